import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { ServerFailedError, ServerMissingError } from '../errors.ts'
import { freePort } from '../free-port.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { installPackages } from '../install/install-packages.ts'
import { type Machine, thisMachine } from '../install/machine.ts'
import { keptFolder } from '../processes/kept-process.ts'
import { runProgram } from '../processes/run-program.ts'
import { postgresVersion } from '../proxy/postgres-answer.ts'
import { LOGIN_RULES } from './login-rules.ts'
import { isSince, writePgbouncerConfig } from './pgbouncer-config.ts'
import { startPostgres } from './postgres.ts'
import type { PostgresServer } from './postgres-server.ts'
import { readMessage } from './read-message.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { findUnprivilegedUser } from './server-user.ts'

/** A pooler and the PostgreSQL behind it. `stop` ends both; `kill`, `restart`, `pause` and `resume` are for the pooler alone. */
export interface PgbouncerServer extends ServerProcess {
  readonly version: string
  readonly port: number
  /** The superuser's URL postgres://postgres@127.0.0.1:PORT/postgres. The pooler serves each database of the server, also a new one. */
  readonly url: string
  /** The server behind the pooler, for what must be done or seen there. */
  readonly postgres: PostgresServer
}

export interface PgbouncerOptions {
  /** Lines such as `pool_mode = session`, which come after the others of the section [pgbouncer] and override them. */
  readonly settings?: readonly string[]
}

/** From this version on SIGTERM waits until each client has gone, and SIGQUIT does not. Before it, SIGTERM does not wait. */
const SIGQUIT_SINCE_MINOR = 23

/** Starts a PostgreSQL and before it a PgBouncer that pools transactions. */
export async function startPgbouncer(options: PgbouncerOptions = {}): Promise<PgbouncerServer> {
  const command = await findPgbouncer()
  const postgres = await startPostgres()
  try {
    return await startBefore(postgres, command, options)
  } catch (error: unknown) {
    await postgres.stop()
    throw error
  }
}

/** Finds or installs a PgBouncer. Throws ServerMissingError with the reason if there is none. */
export async function findPgbouncer(
  folders: readonly string[] = readEnvironment().searchPath,
  machine: Machine = thisMachine(),
): Promise<string> {
  const found = (await findBinaries(['pgbouncer'], folders))[0]
  if (found !== undefined) return found
  const failure = await installPackages(['pgbouncer'], machine)
  const installed = (await findBinaries(['pgbouncer'], folders))[0]
  if (installed !== undefined) return installed
  throw new ServerMissingError(
    `no PgBouncer here: ${failure ?? 'its package is installed, and yet it is not found'}. Install one (Debian, Ubuntu: apt-get install pgbouncer; macOS: brew install pgbouncer)`,
  )
}

async function startBefore(
  postgres: PostgresServer,
  command: string,
  { settings = [] }: PgbouncerOptions,
): Promise<PgbouncerServer> {
  const version = await readVersion(command)
  const user = findUnprivilegedUser()
  const folder = await keptFolder('pgbouncer', user)
  const port = await freePort()
  const files = {
    config: join(folder, 'pgbouncer.ini'),
    rules: join(folder, 'login-rules'),
    users: join(folder, 'users'),
  }
  try {
    await writeFile(files.rules, LOGIN_RULES)
    // Users who are not in this file are looked up in the database.
    await writeFile(files.users, '"postgres" ""\n')
    await writeFile(
      files.config,
      writePgbouncerConfig({ ...files, port, serverPort: postgres.port, version, settings }),
    )
    const pooler = await startServerProcess({
      name: 'pgbouncer',
      folder,
      command,
      args: [files.config],
      user,
      stopSignal: isSince(version, SIGQUIT_SINCE_MINOR) ? 'SIGQUIT' : 'SIGTERM',
      waitingFor: () => waitingForLogin(port),
    })
    return {
      ...pooler,
      version,
      port,
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      postgres,
      async stop() {
        try {
          await pooler.stop()
        } finally {
          await postgres.stop()
        }
      },
    }
  } catch (error: unknown) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function readVersion(command: string): Promise<string> {
  const { output } = await runProgram(command, ['--version'])
  const version = /^PgBouncer (\d+\.\d+\S*)/im.exec(output)?.[1]
  if (version === undefined) throw new ServerFailedError(`${command} does not say its version: ${output}`)
  return version
}

/** Returns what is missing until the pooler lets the superuser in, which takes a connection to the server, too. */
async function waitingForLogin(port: number): Promise<string | undefined> {
  try {
    await postgresVersion({ host: '127.0.0.1', port })
    return undefined
  } catch (error: unknown) {
    return readMessage(error)
  }
}
