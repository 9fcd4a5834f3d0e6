import '../check-node.ts'

export {
  openRedisStore,
  type RedisCounters,
  type RedisOptions,
  type RedisStore,
} from '@counterstep/store-redis'
