import { readEnvironment } from '../environment.ts'
import { findBinaries } from './find-binaries.ts'
import { installPackages } from './install-packages.ts'
import { type Machine, thisMachine } from './machine.ts'

/** Programs of others that nothing here can stand in for. Debian's packages have the same names. */
export type BroughtName = 'sysbench' | 'wrk'

export type Brought =
  | { readonly type: 'found'; readonly path: string }
  /** `reason` names the program, and what one can do about it. */
  | { readonly type: 'missing'; readonly reason: string }

/** Installs nothing: for a test, which is not to wait for that. */
export async function findProgram(name: BroughtName): Promise<Brought> {
  const path = await look(name, readEnvironment().searchPath)
  return path === undefined ? { type: 'missing', reason: `no ${name} here` } : { type: 'found', path }
}

/** Finds the program, or installs it where that is possible. */
export async function bringProgram(
  name: BroughtName,
  folders: readonly string[] = readEnvironment().searchPath,
  machine: Machine = thisMachine(),
): Promise<Brought> {
  const found = await look(name, folders)
  if (found !== undefined) return { type: 'found', path: found }
  const failure = await installPackages([name], machine)
  const installed = await look(name, folders)
  if (installed !== undefined) return { type: 'found', path: installed }
  const why = failure ?? 'its package is installed, and yet it is not found'
  return { type: 'missing', reason: `no ${name} here: ${why} (Debian, Ubuntu: apt-get install ${name})` }
}

async function look(name: BroughtName, folders: readonly string[]): Promise<string | undefined> {
  return (await findBinaries([name], folders))[0]
}
