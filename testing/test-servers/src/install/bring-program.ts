import { readEnvironment } from '../environment.ts'
import { findBinaries } from './find-binaries.ts'
import { installPackages } from './install-packages.ts'
import { type Machine, thisMachine } from './machine.ts'

/** Programs of other projects that nothing here can replace. Debian's packages have the same names; promtool comes with prometheus. */
export type BroughtName = 'caddy' | 'chromium' | 'nginx' | 'prometheus' | 'sysbench' | 'wrk'

export type Brought =
  | { readonly type: 'found'; readonly path: string }
  /** The `reason` names the program and says how to get it. */
  | { readonly type: 'missing'; readonly reason: string }

/** Finds the program without installing it, for a test that must not wait for an installation. */
export async function findProgram(name: BroughtName): Promise<Brought> {
  const path = await look(name, readEnvironment().searchPath)
  return path === undefined ? { type: 'missing', reason: `no ${name} here` } : { type: 'found', path }
}

/** Finds the program, or installs it if that is possible. */
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
