import type { RunProgram } from '../processes/run-program.ts'

interface Runnable {
  readonly command: string
  /** What stands before the server's own options. */
  readonly prefix: readonly string[]
  /** Options without which it does not find its own files. */
  readonly options: readonly string[]
}

/** A MariaDB or MySQL server that can be run here. Its version is as its first line says it: 10.11.19-MariaDB. */
export type SqlProgram = Runnable & { readonly version: string } & (
    | { readonly flavor: 'mysql' }
    // MySQL fills a data folder itself; MariaDB has a script for it.
    | { readonly flavor: 'mariadb'; readonly installer: string }
  )

export interface ProgramIdentity {
  readonly flavor: 'mariadb' | 'mysql'
  readonly version: string
}

/** Asks a program what it is; undefined when it is no server or does not run. */
export async function identityOf(runnable: Runnable, run: RunProgram): Promise<ProgramIdentity | undefined> {
  const { code, output } = await run(runnable.command, [
    ...runnable.prefix,
    '--no-defaults',
    ...runnable.options,
    '--version',
  ])
  const version = /Ver (\d+\.\S+)/.exec(output)?.[1]
  if (code !== 0 || version === undefined) return undefined
  return { flavor: /mariadb/i.test(output) ? 'mariadb' : 'mysql', version }
}
