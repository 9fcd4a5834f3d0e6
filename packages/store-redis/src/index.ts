export type { RedisOptions } from './open-redis-store.ts'
export { openRedisStore } from './open-redis-store.ts'
export type { RedisStore } from './redis-store.ts'
export type { RedisCounters } from './tail/store-health.ts'
