import type { ScenarioContext } from '../../scenario.ts'
import { openOwnMysql } from '../../stores/open-own-mysql.ts'
import { openOwnRedis } from '../../stores/open-own-redis.ts'
import { openStoreHost } from '../../stores/open-store-host.ts'
import type { StoreHost } from '../../stores/store-host.ts'

/**
 * Opens the place of our own database. Beside DTM itself it is private even if the environment names a server, since DTM gets a
 * private one with the same settings.
 */
export async function openOwnSide({ harness, settings }: ScenarioContext): Promise<StoreHost> {
  const { store, peers } = settings
  if (!peers || store === 'sqlite') return await openStoreHost(harness, store)
  const { host } =
    store === 'redis' ? await openOwnRedis(harness, 'always') : await openOwnMysql(harness, store)
  return host
}
