import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { freePort } from '../free-port.ts'
import { keptFolder } from '../processes/kept-process.ts'
import { postgresVersion } from '../proxy/postgres-answer.ts'
import { copyDataSeed } from './data-seed.ts'
import { LOGIN_RULES } from './login-rules.ts'
import type { PostgresProgram } from './postgres-program.ts'
import { giveTo, postgresSeed } from './postgres-seed.ts'
import { readMessage } from './read-message.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { findUnprivilegedUser } from './server-user.ts'

export interface PostgresServer extends ServerProcess {
  readonly version: string
  readonly port: number
  /** The superuser's URL postgres://postgres@127.0.0.1:PORT/postgres, without a password. Other users need theirs. */
  readonly url: string
}

export interface PostgresServerOptions {
  /** Options of the server's command line, which come after the durable ones and override them. */
  readonly settings?: readonly string[]
}

/** These settings bring each commit to the disk before it is answered. */
const DURABLE = [
  '--fsync=on',
  '--synchronous_commit=on',
  '--full_page_writes=on',
  '--max_connections=200',
  '--logging_collector=off',
]

/** Starts an empty, durable server on a free port of 127.0.0.1. */
export async function startPostgresServer(
  program: PostgresProgram,
  options: PostgresServerOptions,
): Promise<PostgresServer> {
  const folder = await keptFolder('postgres', findUnprivilegedUser())
  try {
    return await startIn(folder, program, options)
  } catch (error: unknown) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(
  folder: string,
  program: PostgresProgram,
  { settings = [] }: PostgresServerOptions,
): Promise<PostgresServer> {
  const user = findUnprivilegedUser()
  const data = join(folder, 'data')
  await copyDataSeed(postgresSeed(program), readEnvironment().cacheFolder, data)
  if (user !== undefined) await giveTo(user, data)
  const rules = join(folder, 'login-rules')
  await writeFile(rules, LOGIN_RULES)
  const port = await freePort()
  let { version } = program
  const server = await startServerProcess({
    name: 'postgres',
    folder,
    command: program.command,
    args: [
      ...['-D', data],
      `--hba_file=${rules}`,
      `--port=${port}`,
      '--listen_addresses=127.0.0.1',
      // A Unix socket is not needed, and its path may be too long for the system.
      '--unix_socket_directories=',
      ...DURABLE,
      ...settings,
    ],
    user,
    // The server would wait after SIGTERM until each client has gone.
    stopSignal: 'SIGINT',
    async waitingFor() {
      try {
        version = await postgresVersion({ host: '127.0.0.1', port })
        return undefined
      } catch (error: unknown) {
        return readMessage(error)
      }
    },
  })
  return { ...server, version, port, url: `postgres://postgres@127.0.0.1:${port}/postgres` }
}
