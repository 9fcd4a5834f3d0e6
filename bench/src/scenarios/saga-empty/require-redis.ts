import type { StoreName } from '../../stores/store-names.ts'

export function requireRedis(store: StoreName): void {
  if (store !== 'redis') throw new Error(`this scenario measures a Redis, not ${store}`)
}
