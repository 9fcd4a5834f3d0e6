import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RedisStore } from '../src/redis-store.ts'
import { MANY_SHARDS, ShardKeys } from '../src/shards/shards.ts'
import { askOwner } from './ask-owner.ts'
import { eventually } from './eventually.ts'
import { listKeys, type OpenedStore, openedForTests } from './open-stores.ts'
import {
  aTransaction,
  created,
  dueTransaction,
  finished,
  hex,
  makeUpdate,
  saved,
  tokens,
} from './transactions.ts'

const ROWS = 300
const GIDS = Array.from({ length: ROWS }, (_, i) => `g-${i}` as Gid)

function shardsIn(keys: readonly string[]): readonly string[] {
  return [
    ...new Set(keys.filter((key) => key.includes('}:t:')).map((key) => /\{(p\d+)\}/.exec(key)?.[1] ?? '')),
  ]
}

/** Runs every operation that uses the shards. */
async function expectWhole(store: RedisStore): Promise<void> {
  await Promise.all(GIDS.map((gid) => created(store, dueTransaction(gid))))
  expect(await store.readMany(GIDS)).toHaveLength(ROWS)
  expect((await store.stats()).unfinished.submitted).toBe(ROWS)
  const page = await store.list({ limit: 200 })
  const rest = await store.list({ limit: 200, ...(page.cursor && { cursor: page.cursor }) })
  expect([...page.items, ...rest.items].map(({ gid }) => gid).sort()).toEqual([...GIDS].sort())
  const postponed = await store.postponeDue({ limit: 100, byMs: 60_000, formatMax: 1 })
  expect(postponed.gids).toHaveLength(100)
  for (const claims of [100, 100, 0]) {
    const claim = { limit: 100, leaseMs: 60_000, tokens: tokens(100), formatMax: 1 }
    const { claimed } = await store.claimDue(claim)
    expect(claimed).toHaveLength(claims)
    expect((await store.renew(claimed, 60_000)).renewed).toHaveLength(claims)
    await Promise.all(claimed.map((row) => saved(store, makeUpdate(row, { type: 'finish', retentionMs: 1 }))))
  }
  let purged = 0
  await eventually('what is over is purged', async () => {
    purged += (await store.purgeFinished(1_000)).purged
    return purged === 200
  })
  expect((await store.stats()).unfinished.submitted).toBe(100)
}

describeOwn('redis', 'how many shards a store has', () => {
  const { open, openWithManyShards, connect } = openedForTests()
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  async function expectShards({ store, keyPrefix }: OpenedStore, count: string): Promise<void> {
    await expectWhole(store)
    const connections = await connect(server.url)
    expect(shardsIn(await listKeys(connections, keyPrefix)).length > 1).toBe(count === '64')
    expect(await connections[0]?.get(new ShardKeys(keyPrefix, 0).shardCount)).toBe(count)
  }

  it('A store on one server has one shard', async () => {
    const opened = await open(server.url)
    await expectShards(opened, '1')
    const again = await open(server.url, { keyPrefix: opened.keyPrefix })
    expect((await again.store.stats()).unfinished.submitted).toBe(100)
  })

  it('A store has many shards where the count says so', async () => {
    await expectShards(await openWithManyShards(server.url), '64')
  })

  it('A store has many shards where rows are spread and there is no count', async () => {
    const { store, keyPrefix } = await openWithManyShards(server.url)
    for (const gid of GIDS.slice(0, 20)) await finished(store, gid)
    const [connection] = await connect(server.url)
    await connection?.del(new ShardKeys(keyPrefix, 0).shardCount)
    const again = await open(server.url, { keyPrefix })
    expect(await again.store.readMany(GIDS.slice(0, 20))).toHaveLength(20)
    expect(await connection?.get(new ShardKeys(keyPrefix, 0).shardCount)).toBe('64')
  })

  it('A store is refused where an older version has written beside the first shard of this one', async () => {
    const { keyPrefix } = await open(server.url)
    const [connection] = await connect(server.url)
    await connection?.hset(new ShardKeys(keyPrefix, 5).counts, '1', '1')
    await expect(open(server.url, { keyPrefix })).rejects.toMatchObject({
      code: 'SAGA_STORE_UNSUPPORTED',
      message: expect.stringContaining('older version'),
    })
  })

  it('A store is refused, and nothing is written, where a later version has another number of shards', async () => {
    const keyPrefix = `test-${hex(6)}`
    const [connection] = await connect(server.url)
    await connection?.set(new ShardKeys(keyPrefix, 0).shardCount, '128')
    await expect(open(server.url, { keyPrefix })).rejects.toMatchObject({
      code: 'SAGA_STORE_UNSUPPORTED',
      message: expect.stringContaining('128'),
    })
    expect(await connection?.get(new ShardKeys(keyPrefix, 0).shardCount)).toBe('128')
  })
})

describeOn('redis-cluster', 'the data of a Redis that move', (url) => {
  const { open, connect } = openedForTests()

  /** Copies the keys as they are, with their time to live. */
  async function copyKeys(keyPrefix: string, from: string, to: string): Promise<void> {
    const targets = await connect(to)
    for (const source of await connect(from)) {
      for (const key of await source.keys(`${keyPrefix}:*`)) {
        const [dump, ttlMs] = [await source.dumpBuffer(key), await source.pttl(key)]
        const restored = targets.map((target) => target.restore(key, Math.max(0, ttlMs), dump))
        // The other nodes refuse keys that they do not serve.
        await Promise.any(restored)
      }
    }
  }

  async function filled(from: string): Promise<string> {
    const { store, keyPrefix } = await open(from)
    for (const gid of GIDS.slice(0, 40)) await created(store, dueTransaction(gid))
    await finished(store, 'done', 600_000)
    const document = { category: 'topics', key: 'k', text: '{}', expectedVersion: 0, writeId: hex(16) }
    expect(await store.writeDocument(document)).toEqual({ type: 'written', version: 1 })
    await store.close()
    return keyPrefix
  }

  async function expectFound({ store }: OpenedStore): Promise<void> {
    expect(await store.readMany([...GIDS.slice(0, 40), 'done' as Gid])).toHaveLength(41)
    expect(await store.readDocuments('topics')).toMatchObject([{ key: 'k' }])
    expect((await store.list({ limit: 100 })).items).toHaveLength(41)
    expect(await store.create(aTransaction(GIDS[0] ?? ''))).toMatchObject({ type: 'exists' })
    const claim = { limit: 100, leaseMs: 60_000, tokens: tokens(100), formatMax: 1 }
    const { claimed } = await store.claimDue(claim)
    expect(claimed.map(({ gid }) => gid).sort()).toEqual([...GIDS.slice(0, 40)].sort())
    for (const row of claimed) await saved(store, makeUpdate(row, { type: 'finish', retentionMs: 600_000 }))
    expect((await store.stats()).unfinished.submitted).toBe(0)
  }

  it('The data of a cluster are all found when they move to one server', async () => {
    const single = await startRedis()
    try {
      const keyPrefix = await filled(url)
      await copyKeys(keyPrefix, url, single.url)
      await expectFound(await open(single.url, { keyPrefix }))
      expect(shardsIn(await listKeys(await connect(single.url), keyPrefix)).length).toBeGreaterThan(1)
    } finally {
      await single.stop()
    }
  })

  it('The data of one server are all found when they move into a cluster', async () => {
    const single = await startRedis()
    try {
      const keyPrefix = await filled(single.url)
      await copyKeys(keyPrefix, single.url, url)
      await expectFound(await open(url, { keyPrefix }))
      expect(shardsIn(await listKeys(await connect(url), keyPrefix))).toEqual(['p0'])
    } finally {
      await single.stop()
    }
  })
})

describeOn('redis-cluster', 'how many shards a store has in a cluster', (url) => {
  const { open, connect } = openedForTests()

  it('A store in a cluster has many shards', async () => {
    const { store, keyPrefix } = await open(url)
    await expectWhole(store)
    const connections = await connect(url)
    const key = new ShardKeys(keyPrefix, 0).shardCount
    expect(await askOwner(connections, 'GET', key)).toBe(String(MANY_SHARDS.count))
    expect(shardsIn(await listKeys(connections, keyPrefix)).length).toBeGreaterThan(1)
  })
})
