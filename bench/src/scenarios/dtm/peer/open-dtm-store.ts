import type { Harness } from '../../../harness/harness.ts'
import { openOwnMysql } from '../../../stores/open-own-mysql.ts'
import { type AppendFsync, openOwnRedis } from '../../../stores/open-own-redis.ts'
import type { StoreHost } from '../../../stores/store-host.ts'
import type { StoreName } from '../../../stores/store-names.ts'
import { DTM_TABLES } from './dtm-tables.ts'

export interface DtmStore {
  /** Absent where it stores in a file of its own. */
  readonly host?: StoreHost
  /** DTM's configuration names it by these. */
  readonly settings: Readonly<Record<string, string | number>>
}

/** A store that is a database server. */
export type HostedDtmStore = Required<DtmStore>

/** Opens a private server with the same settings as our own side has. Throws where DTM has no such store. */
export async function openDtmStore(harness: Harness, store: StoreName): Promise<HostedDtmStore> {
  switch (store) {
    case 'mysql':
    case 'mariadb':
    case 'mysql9':
      return await openMysqlForDtm(harness, store)
    case 'redis':
      return await openRedisForDtm(harness, 'always')
    case 'sqlite':
    case 'postgres':
      throw new Error(`it is not set up here on ${store}; name --store mysql or redis`)
  }
}

export async function openMysqlForDtm(harness: Harness, store: StoreName): Promise<HostedDtmStore> {
  const { host, url, link } = await openOwnMysql(harness, store)
  await link.run('CREATE DATABASE dtm')
  await link.run('USE dtm')
  for (const table of DTM_TABLES) await link.run(table)
  return { host, settings: { Driver: 'mysql', ...toPlace(url), User: 'root', Db: 'dtm' } }
}

export async function openRedisForDtm(harness: Harness, appendFsync: AppendFsync): Promise<HostedDtmStore> {
  const { host, url } = await openOwnRedis(harness, appendFsync)
  return { host, settings: { Driver: 'redis', ...toPlace(url) } }
}

function toPlace(url: string): { readonly Host: string; readonly Port: number } {
  const { hostname, port } = new URL(url)
  return { Host: hostname, Port: Number(port) }
}
