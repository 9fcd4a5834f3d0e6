import { type FunctionStoreConfig, storeUrl } from '@counterstep/configuration'
import type { Store, StoreEvent } from '@counterstep/core'

/** Opens the store, once for all invocations of an environment. */
export async function openStore(
  config: FunctionStoreConfig,
  password: string | undefined,
  onEvent: (event: StoreEvent) => void,
): Promise<Store> {
  const { type, failover, acceptClassC, connectTimeoutMs, timeoutMs, tls } = config
  const common = {
    url: storeUrl(config, password),
    acceptClassC,
    connectTimeoutMs,
    onEvent,
    ...(failover === undefined ? {} : { failover }),
  }
  if (type !== 'redis') {
    const { connectionsMax, multiplexed } = config
    const secured = tls === undefined ? {} : { tls }
    const options = { ...common, ...secured, connectionsMax, multiplexed, statementTimeoutMs: timeoutMs }
    if (type === 'mysql') return (await import('@counterstep/store-mysql')).openMysqlStore(options)
    return (await import('@counterstep/store-postgres')).openPostgresStore(options)
  }
  const { openRedisStore } = await import('@counterstep/store-redis')
  const { keyPrefix, durability } = config
  const certificates = typeof tls === 'object' ? { tls } : {}
  const declared = durability === undefined ? {} : { durability }
  return openRedisStore({ ...common, ...certificates, ...declared, keyPrefix, commandTimeoutMs: timeoutMs })
}
