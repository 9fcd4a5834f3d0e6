import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findBinaries } from '../install/find-binaries.ts'
import { runProgram } from '../processes/run-program.ts'

/** A PostgreSQL server that can be run here. */
export interface PostgresProgram {
  readonly command: string
  /** The program that fills a data folder. It has the server's version only if it lies beside the server. */
  readonly initdb: string
  /** The version in the first line of its output, such as 15.18. */
  readonly version: string
}

/** Asks a program for its version. Returns undefined if it is no PostgreSQL, does not run, or has no `initdb` beside it. */
export async function readPostgresProgram(command: string): Promise<PostgresProgram | undefined> {
  const [initdb] = await findBinaries(['initdb'], [dirname(await realpath(command))])
  const { code, output } = await runProgram(command, ['--version'])
  const version = /^postgres \(PostgreSQL\) (\d+\S*)/m.exec(output)?.[1]
  if (code !== 0 || version === undefined || initdb === undefined) return undefined
  return { command, initdb, version }
}
