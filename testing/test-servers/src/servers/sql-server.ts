import { randomInt } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { freePort } from '../free-port.ts'
import { keptFolder } from '../processes/kept-process.ts'
import { mysqlVersion, readFlavor } from '../proxy/mysql-greeting.ts'
import { copyDataSeed } from './data-seed.ts'
import { readMessage } from './read-message.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import type { SqlProgram } from './sql-program.ts'
import { sqlSeed } from './sql-seed.ts'
import { userOption } from './user-option.ts'

export interface SqlServer extends ServerProcess {
  readonly flavor: 'mariadb' | 'mysql'
  readonly version: string
  readonly port: number
  /** The URL mysql://root@127.0.0.1:PORT, without a password. */
  readonly url: string
}

export interface SqlServerOptions {
  /** Options of the server's command line, which come after the durable ones and override them. */
  readonly settings?: readonly string[]
}

/** These settings bring each commit to the disk before it is answered. */
const DURABLE = [
  '--innodb-flush-log-at-trx-commit=1',
  '--log-bin=binlog',
  '--sync-binlog=1',
  '--innodb-buffer-pool-size=256M',
  '--max-connections=300',
]

const MYSQL_ONLY = [
  '--mysqlx=OFF',
  '--secure-file-priv=NULL',
  // The variable `gtid_executed` counts the commits.
  '--gtid-mode=ON',
  '--enforce-gtid-consistency=ON',
]

const SERVER_ID_MAX = 2 ** 31

/** Starts an empty, durable server on a free port of 127.0.0.1. */
export async function startSqlServer(program: SqlProgram, options: SqlServerOptions): Promise<SqlServer> {
  const folder = await keptFolder(program.flavor)
  try {
    return await startIn(folder, program, options)
  } catch (error: unknown) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(
  folder: string,
  program: SqlProgram,
  { settings = [] }: SqlServerOptions,
): Promise<SqlServer> {
  const data = join(folder, 'data')
  await copyDataSeed(sqlSeed(program), readEnvironment().cacheFolder, data)
  // A starting MariaDB deletes the temporary tables that it finds, and the system's folder has those of other servers.
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  const port = await freePort()
  const place = [
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    `--socket=${join(folder, 'sock')}`,
    `--pid-file=${join(folder, 'pid')}`,
  ]
  const net = ['--bind-address=127.0.0.1', `--port=${port}`, `--server-id=${randomInt(1, SERVER_ID_MAX)}`]
  const own = program.flavor === 'mysql' ? MYSQL_ONLY : []
  let version = program.version
  const server = await startServerProcess({
    name: program.flavor,
    folder,
    command: program.command,
    args: [
      ...program.prefix,
      '--no-defaults',
      ...program.options,
      ...userOption(),
      ...place,
      ...net,
      ...DURABLE,
      ...own,
      ...settings,
    ],
    async waitingFor() {
      try {
        version = await mysqlVersion({ host: '127.0.0.1', port })
        return undefined
      } catch (error: unknown) {
        return readMessage(error)
      }
    },
  })
  return { ...server, flavor: readFlavor(version), version, port, url: `mysql://root@127.0.0.1:${port}` }
}
