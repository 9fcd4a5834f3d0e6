import type { StoreEvent } from '@counterstep/core'
import { Redis } from 'ioredis'
import { afterEach } from 'vitest'
import { openRedisStore, type RedisOptions } from '../src/open-redis-store.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { MANY_SHARDS, ONE_SHARD, ShardKeys, type Shards } from '../src/shards/shards.ts'
import { asLeastUser } from './least-user.ts'
import { hex } from './transactions.ts'

export interface OpenedStore {
  readonly store: RedisStore
  readonly keyPrefix: string
  readonly shards: Shards
  /** Returns the keys of the shard of a gid. */
  readonly keysFor: (gid: string) => ShardKeys
  readonly events: readonly StoreEvent[]
}

/** Opens stores as the documented user with least rights, and plain connections. All are closed after the test. */
export function openedForTests(
  /** The login `as-given` makes no user, for servers that allow no users, or for addresses without a server. */
  login: 'least-user' | 'as-given' = 'least-user',
): {
  readonly open: (url: string, options?: Partial<RedisOptions>) => Promise<OpenedStore>
  /** Opens one server with as many shards as a cluster. */
  readonly openWithManyShards: (url: string) => Promise<OpenedStore>
  readonly connect: (url: string) => Promise<readonly Redis[]>
} {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })
  async function open(url: string, options: Partial<RedisOptions> = {}, shards?: Shards) {
    const keyPrefix = options.keyPrefix ?? `test-${hex(6)}`
    const events: StoreEvent[] = []
    const store = await openRedisStore({
      url: login === 'as-given' ? url : await asLeastUser(url, keyPrefix),
      onEvent: (event) => events.push(event),
      ...options,
      keyPrefix,
    })
    closers.push(() => store.close())
    const held = shards ?? (url.startsWith('redis-cluster') ? MANY_SHARDS : ONE_SHARD)
    return { store, keyPrefix, shards: held, keysFor: keysIn(held, keyPrefix), events }
  }
  async function connect(url: string) {
    const [, nodes = ''] = url.split('://')
    const connections = nodes.split(',').map((node) => new Redis(`redis://${node}`, { lazyConnect: true }))
    for (const connection of connections) {
      // Tests kill the server of this connection.
      connection.on('error', () => undefined)
      await connection.connect()
      closers.push(async () => connection.disconnect())
    }
    return connections
  }
  return {
    open,
    openWithManyShards: async (url) => {
      const keyPrefix = `test-${hex(6)}`
      const [connection] = await connect(url)
      await connection?.set(new ShardKeys(keyPrefix, 0).shardCount, '64')
      return open(url, { keyPrefix }, MANY_SHARDS)
    },
    connect,
  }
}

function keysIn(shards: Shards, keyPrefix: string): (gid: string) => ShardKeys {
  return (gid) => new ShardKeys(keyPrefix, shards.toShard(gid))
}

/** Lists the keys of one store on all nodes. */
export async function listKeys(connections: readonly Redis[], keyPrefix: string): Promise<readonly string[]> {
  return (await Promise.all(connections.map((connection) => connection.keys(`${keyPrefix}:*`)))).flat()
}
