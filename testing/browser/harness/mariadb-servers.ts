import { type SqlServer, startMariadb } from '@counterstep/test-servers'
import { createConnection } from 'mysql2/promise'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const DATABASE = 'counterstep'

export interface MariadbServers extends AsyncDisposable {
  readonly mariadb: SqlServer
  readonly servers: readonly ConsoleServer[]
  /** Starts one more server on the same store, at this port or at a free one. */
  startAnother(port?: number): Promise<ConsoleServer>
}

export interface MariadbServersOptions {
  readonly count: number
  readonly hasKeys?: boolean
  /** More of the command line of each server. */
  readonly more?: readonly string[]
}

/** Starts a MariaDB, and so many servers that have it as their store. */
export async function startOnMariadb({
  count,
  hasKeys = false,
  more = [],
}: MariadbServersOptions): Promise<MariadbServers> {
  await using started = new AsyncDisposableStack()
  const mariadb = await startMariadb()
  started.defer(() => mariadb.stop())
  const root = await createConnection(mariadb.url)
  await root.query(`CREATE DATABASE ${DATABASE}`)
  await root.end()
  const storeUrl = `${mariadb.url}/${DATABASE}`
  // A server with a given port also takes DTM's port, which another process may have.
  const options = { kind: 'serve', hasKeys, storeUrl, more: ['--dtm-port', 'off', ...more] } as const
  const start = (port: number) => startConsoleServer({ ...options, port })
  const servers: ConsoleServer[] = []
  // The first one makes the tables.
  for (let number = 0; number < count; number++) servers.push(started.use(await start(0)))
  const kept = started.move()
  return {
    mariadb,
    servers,
    startAnother: async (port = 0) => kept.use(await start(port)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
