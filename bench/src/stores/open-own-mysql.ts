import { startMariadb, startMysql } from '@counterstep/test-servers'
import type { Harness } from '../harness/harness.ts'
import { mysqlHost } from './mysql-host.ts'
import { SqlLink } from './sql-link.ts'
import type { StoreHost } from './store-host.ts'
import type { StoreName } from './store-names.ts'

export interface OwnMysql {
  readonly host: StoreHost
  /** The URL names no database. */
  readonly url: string
  /** A connection of the administrator. */
  readonly link: SqlLink
}

/**
 * Starts a private server even if the environment names one: its settings may be changed, and its counters are ours.
 */
export async function openOwnMysql(harness: Harness, store: StoreName): Promise<OwnMysql> {
  const server = await startOwn(store)
  const host = await mysqlHost({ url: server.url, pid: () => server.pid(), end: () => server.stop() })
  harness.atEnd(() => host.close())
  const link = await SqlLink.open(server.url)
  harness.atEnd(() => link.close())
  return { host, url: server.url, link }
}

async function startOwn(store: StoreName): ReturnType<typeof startMysql> {
  switch (store) {
    case 'mysql9':
      return await startMysql()
    case 'mysql':
    case 'mariadb':
      return await startMariadb()
    case 'sqlite':
    case 'postgres':
    case 'redis':
      throw new Error(`this scenario needs a MySQL or a MariaDB, not ${store}`)
  }
}
