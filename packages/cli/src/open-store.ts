import type { ServerStoreConfig, StoreConfig } from '@counterstep/configuration'
import type { Store, StoreEvent } from '@counterstep/core'

export interface StoreListeners {
  /** It is called if the store cannot go on. The whole process then has to end. */
  readonly onBroken: (error: unknown) => void
  readonly onEvent: (event: StoreEvent) => void
}

/** Opens the configured store. Only its package is imported, so that no driver of another store is loaded. */
export async function openStore(config: StoreConfig, { onBroken, onEvent }: StoreListeners): Promise<Store> {
  switch (config.type) {
    case 'sqlite': {
      const { openSqliteStore } = await import('@counterstep/store-sqlite')
      const { path, synchronous, freeBytesMin } = config
      return openSqliteStore({ path, synchronous, freeBytesMin, onBroken, onEvent })
    }
    case 'mysql': {
      const { openMysqlStore } = await import('@counterstep/store-mysql')
      const { connectionsMax, multiplexed, tls, timeoutMs: statementTimeoutMs } = config
      const secured = tls === undefined ? {} : { tls }
      const limits = { connectionsMax, statementTimeoutMs }
      return openMysqlStore({ ...pickCommonOptions(config), ...secured, ...limits, multiplexed, onEvent })
    }
    case 'postgres': {
      const { openPostgresStore } = await import('@counterstep/store-postgres')
      const { connectionsMax, multiplexed, tls, timeoutMs: statementTimeoutMs } = config
      const secured = tls === undefined ? {} : { tls }
      const limits = { connectionsMax, statementTimeoutMs }
      return openPostgresStore({ ...pickCommonOptions(config), ...secured, ...limits, multiplexed, onEvent })
    }
    case 'redis': {
      const { openRedisStore } = await import('@counterstep/store-redis')
      const { keyPrefix, durability, tls, timeoutMs: commandTimeoutMs } = config
      const certificates = typeof tls === 'object' ? { tls } : {}
      const declared = durability === undefined ? {} : { durability }
      const more = { ...certificates, ...declared, keyPrefix, commandTimeoutMs }
      return openRedisStore({ ...pickCommonOptions(config), ...more, onEvent })
    }
  }
}

function pickCommonOptions({ url, failover, acceptClassC, connectTimeoutMs }: ServerStoreConfig) {
  return { url, acceptClassC, connectTimeoutMs, ...(failover === undefined ? {} : { failover }) }
}
