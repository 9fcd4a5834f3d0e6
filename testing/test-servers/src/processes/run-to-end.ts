import { readFile } from 'node:fs/promises'
import { ServerFailedError } from '../errors.ts'
import type { ServerUser } from '../servers/server-user.ts'
import { startKept } from './kept-process.ts'

const RUN_MS_MAX = 120_000

/** Runs a program that makes a data folder. It ends with its owner, like a server. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  log: string,
  user?: ServerUser,
): Promise<void> {
  const making = await startKept(command, args, log, user)
  const how = await making.end(RUN_MS_MAX)
  if (how === 'exit code 0') return
  throw new ServerFailedError(
    `${command} could not make a data folder (${how}):\n${await readFile(log, 'utf8')}`,
  )
}
