import { constants } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { postgresEighteen } from '../install/postgres-eighteen.ts'
import { keptFolder } from '../processes/kept-process.ts'
import type { PostgresProgram } from './postgres-program.ts'
import { type PostgresServer, type PostgresServerOptions, startPostgresServer } from './postgres-server.ts'
import { findUnprivilegedUser, type ServerUser } from './server-user.ts'

/** Starts a PostgreSQL 18, which is installed from npm once. */
export async function startPostgres18(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const program = await findPostgres18()
  const user = findUnprivilegedUser()
  return await startPostgresServer(user === undefined ? program : await copyOnce(program, user), options)
}

/** Finds or installs PostgreSQL 18. Throws ServerMissingError with the reason if there is none. */
export async function findPostgres18(): Promise<PostgresProgram> {
  findUnprivilegedUser()
  return await postgresEighteen(readEnvironment().cacheFolder)
}

let copied: Promise<PostgresProgram> | undefined

/** Copies the program for a user that may not enter the cache, which belongs to root: once for this process, 54 MB. */
function copyOnce(program: PostgresProgram, user: ServerUser): Promise<PostgresProgram> {
  copied ??= copyProgram(program, user)
  return copied
}

async function copyProgram(program: PostgresProgram, user: ServerUser): Promise<PostgresProgram> {
  const root = dirname(dirname(program.command))
  const copy = join(await keptFolder('postgres-18', user), 'program')
  // The links to the libraries are relative, and stay so.
  await cp(root, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  const inCopy = (path: string) => join(copy, relative(root, path))
  return { ...program, command: inCopy(program.command), initdb: inCopy(program.initdb) }
}
