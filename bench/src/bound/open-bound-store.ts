import type { Store } from '@counterstep/core'
import { openMysqlStore } from '@counterstep/store-mysql'
import { openRedisStore } from '@counterstep/store-redis'
import { openSqliteStore } from '@counterstep/store-sqlite'

type Environment = Readonly<Record<string, string | undefined>>

/** That of `counterstep serve` with the same environment, of which it reads what a database of the bench sets. */
export async function openBoundStore(environment: Environment): Promise<Store> {
  const { COUNTERSTEP_STORE: url = '', COUNTERSTEP_STORE_FAILOVER: failover } = environment
  if (url.startsWith('sqlite:')) {
    return openSqliteStore({ path: url.slice('sqlite:'.length), synchronous: 'FULL' })
  }
  if (url.startsWith('redis:')) return openRedisStore({ url })
  return openMysqlStore({ url, ...(failover === 'none' ? { failover } : {}) })
}
