import type { RunProgram } from '../processes/run-program.ts'

interface Runnable {
  readonly command: string
  /** The arguments before the server's own options. */
  readonly prefix: readonly string[]
  /** Without these options the server does not find its own files. */
  readonly options: readonly string[]
}

/** A MariaDB or MySQL server that can be run here. Its version is the one in the first line of its output, such as 10.11.19-MariaDB. */
export type SqlProgram = Runnable & { readonly version: string } & (
    | { readonly flavor: 'mysql' }
    // MySQL fills a data folder itself, and MariaDB has a script for it.
    | { readonly flavor: 'mariadb'; readonly installer: string }
  )

export interface ProgramIdentity {
  readonly flavor: 'mariadb' | 'mysql'
  readonly version: string
}

/** Asks a program for its product and version. Returns undefined if it is no server or does not run. */
export async function readIdentity(
  runnable: Runnable,
  run: RunProgram,
): Promise<ProgramIdentity | undefined> {
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
