import type { Store } from '@counterstep/core'
import { openMysqlStore } from '@counterstep/store-mysql'
import { openPostgresStore } from '@counterstep/store-postgres'
import { openRedisStore } from '@counterstep/store-redis'
import { openSqliteStore } from '@counterstep/store-sqlite'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Opens the store the way `counterstep serve` does, by the variables that a database of the bench sets; time-outs are
 * the package's own.
 */
export async function openStore(environment: Environment): Promise<Store> {
  const { COUNTERSTEP_STORE: url = '', COUNTERSTEP_STORE_FAILOVER: failover } = environment
  if (url.startsWith('sqlite:')) {
    return openSqliteStore({ path: url.slice('sqlite:'.length), synchronous: 'FULL' })
  }
  if (/^rediss?:/.test(url)) return openRedisStore({ url })
  if (/^postgres(ql)?:/.test(url))
    return openPostgresStore({ url, ...(failover === 'none' ? { failover } : {}) })
  return openMysqlStore({ url, ...(failover === 'none' ? { failover } : {}) })
}
