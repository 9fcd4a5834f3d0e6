export type { RedisOptions } from './open-redis-store.ts'
export { openRedisStore } from './open-redis-store.ts'
export type { RedisCounters, RedisStore } from './redis-store.ts'
