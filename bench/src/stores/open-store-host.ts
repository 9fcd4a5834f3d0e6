import { startMariadb, startMysql, startPostgres, startRedis } from '@counterstep/test-servers'
import type { Harness } from '../harness/harness.ts'
import type { Server } from '../harness/server.ts'
import type { StoreFacts } from '../report/store-facts.ts'
import { mysqlHost } from './mysql-host.ts'
import { postgresHost } from './postgres-host.ts'
import { redisHost } from './redis-host.ts'
import { sqliteHost } from './sqlite-host.ts'
import type { StoreHost } from './store-host.ts'
import type { StoreName } from './store-names.ts'

/** Its databases go with the run. */
export async function openStoreHost(harness: Harness, store: StoreName): Promise<StoreHost> {
  const host = await open(harness, store)
  harness.atEnd(() => host.close())
  return host
}

export function toStoreFacts(host: StoreHost, server: Server): StoreFacts {
  return { ...server.store, software: host.software }
}

async function open(harness: Harness, store: StoreName): Promise<StoreHost> {
  const { TEST_MYSQL_URL = '', TEST_POSTGRES_URL = '', TEST_REDIS_URL = '' } = process.env
  switch (store) {
    case 'sqlite':
      return sqliteHost(harness.folder)
    case 'mysql':
      return await mysqlHost(TEST_MYSQL_URL === '' ? ownPlace(await startMariadb()) : toPlace(TEST_MYSQL_URL))
    case 'mariadb':
      return await mysqlHost(ownPlace(await startMariadb()))
    case 'mysql9':
      return await mysqlHost(ownPlace(await startMysql()))
    case 'postgres':
      return await postgresHost(
        TEST_POSTGRES_URL === '' ? ownPlace(await startPostgres()) : toPlace(TEST_POSTGRES_URL),
      )
    case 'redis':
      return await redisHost(TEST_REDIS_URL === '' ? ownPlace(await startRedis()) : toPlace(TEST_REDIS_URL))
  }
}

interface OwnServer {
  readonly url: string
  pid(): number
  stop(): Promise<void>
}

function ownPlace(server: OwnServer) {
  return { url: server.url, pid: () => server.pid(), end: () => server.stop() }
}

function toPlace(url: string) {
  return { url, end: () => Promise.resolve() }
}
