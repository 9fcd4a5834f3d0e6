import type { StoreEvent } from '@counterstep/core'
import { Redis } from 'ioredis'
import { afterEach } from 'vitest'
import { openRedisStore, type RedisOptions } from '../src/open-redis-store.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { asLeastUser } from './least-user.ts'
import { hex } from './transactions.ts'

export interface OpenedStore {
  readonly store: RedisStore
  readonly keyPrefix: string
  readonly events: readonly StoreEvent[]
}

/** Opens stores, as the documented user with least rights, and plain connections; all are closed after the test. */
export function openedForTests(
  /** `as-given`: for servers on which no user can be made, or which are none. */
  login: 'least-user' | 'as-given' = 'least-user',
): {
  readonly open: (url: string, options?: Partial<RedisOptions>) => Promise<OpenedStore>
  readonly connect: (url: string) => Promise<readonly Redis[]>
} {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })
  return {
    open: async (url, options = {}) => {
      const keyPrefix = options.keyPrefix ?? `test-${hex(6)}`
      const events: StoreEvent[] = []
      const store = await openRedisStore({
        url: login === 'as-given' ? url : await asLeastUser(url, keyPrefix),
        onEvent: (event) => events.push(event),
        ...options,
        keyPrefix,
      })
      closers.push(() => store.close())
      return { store, keyPrefix, events }
    },
    connect: async (url) => {
      const [, nodes = ''] = url.split('://')
      const connections = nodes.split(',').map((node) => new Redis(`redis://${node}`, { lazyConnect: true }))
      for (const connection of connections) {
        // Tests kill servers under it.
        connection.on('error', () => undefined)
        await connection.connect()
        closers.push(async () => connection.disconnect())
      }
      return connections
    },
  }
}

/** The keys of one store, on all nodes. */
export async function keysOf(connections: readonly Redis[], keyPrefix: string): Promise<readonly string[]> {
  return (await Promise.all(connections.map((connection) => connection.keys(`${keyPrefix}:*`)))).flat()
}
