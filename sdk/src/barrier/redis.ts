// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.
export type { Barrier, BarrierOutcome } from './barrier.ts'
export type { LocalOutcome, MessageBarrier, QueryPreparedOptions } from './message-barrier.ts'
export type { RedisBarrierOptions } from './redis/redis-barrier.ts'
export { redisBarrier } from './redis/redis-barrier.ts'
export { checkBarrier } from './redis/redis-check.ts'
export type { RedisConnection } from './redis/redis-connection.ts'
export type { RedisAddition, RedisEffect, RedisEffects } from './redis/redis-effect.ts'
