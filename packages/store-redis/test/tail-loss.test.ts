import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreEvent } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis, startRedisCluster } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SCRIPTS } from '../src/generated/scripts.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { createRow, writeRowsCall } from '../src/shards/encode-calls.ts'
import { eventually } from './eventually.ts'
import { type OpenedStore, openedForTests } from './open-stores.ts'
import { aTransaction, created, finished, hex, makeUpdate, saved, tokens } from './transactions.ts'

const DOCUMENT = { category: 'topics', text: 'text' }
const LOST = 'store-tail-lost'

function reported(events: readonly StoreEvent[]): readonly StoreEvent[] {
  return events.filter((event) => event.name === LOST)
}

/** Polls like an idle node. */
function poll(store: RedisStore): Promise<unknown> {
  return store.claimDue({ limit: 1, leaseMs: 1, tokens: tokens(1), formatMax: 1 })
}

async function expectReported({ store, events }: OpenedStore): Promise<StoreEvent> {
  await eventually('the loss is reported', () => reported(events).length > 0)
  const [event] = reported(events)
  expect(event).toMatchObject({ level: 'error', name: LOST })
  expect(event?.detail).toMatch(/until 20\d\d-\d\d-\d\dT[0-9:.]+Z may be gone \(found at 20\d\d-/)
  expect(reported(events)).toHaveLength(1)
  expect(store.counters().losses).toBe(1)
  return event as StoreEvent
}

describeOwn('redis', 'a Redis that has forgotten', () => {
  const { open, connect } = openedForTests()
  let server: RedisServer
  let copies: string
  beforeEach(async () => {
    server = await startRedis()
    copies = await mkdtemp(join(tmpdir(), 'counterstep-redis-'))
  })
  afterEach(async () => {
    await server.stop()
    await rm(copies, { recursive: true })
  })

  async function folder(): Promise<string> {
    const [connection] = await connect(server.url)
    const [, dir = ''] = ((await connection?.config('GET', 'dir')) ?? []) as string[]
    return dir
  }

  /** Waits for a mark on the server that is newer than this call. */
  async function marked({ store, keyPrefix }: OpenedStore): Promise<void> {
    const [connection] = await connect(server.url)
    const from = Date.now()
    await eventually('a mark is written', async () => {
      await created(store, aTransaction(`mark-${hex(6)}`))
      const [key] = (await connection?.keys(`${keyPrefix}:*:mark:*`)) ?? []
      const mark = key === undefined ? null : await connection?.get(key)
      return Number(mark?.split(' ')[1] ?? 0) >= from
    })
  }

  async function untilBack({ store }: OpenedStore): Promise<void> {
    await eventually('the store answers', () =>
      store.stats().then(
        () => true,
        () => false,
      ),
    )
  }

  it('A Redis that has forgotten all, under a store with load, is reported, and updates find and create nothing', async () => {
    const opened = await open(server.url)
    const { store } = opened
    const row = await created(store, aTransaction('a'))
    await marked(opened)
    const [connection] = await connect(server.url)
    await connection?.flushall()
    await eventually('a write finds out', async () => {
      await created(store, aTransaction(hex(8)))
      return reported(opened.events).length > 0
    })
    const event = await expectReported(opened)
    expect(event.detail).toContain('after some instant')
    expect(await store.update(makeUpdate(row))).toEqual({ type: 'absent' })
    expect(await store.renew([row], 1_000)).toMatchObject({ renewed: [], lost: ['a'] })
    expect(await store.readMany(['a' as Gid])).toEqual([])
    // After a loss it goes on watching what is there now.
    await marked(opened)
    expect(reported(opened.events)).toHaveLength(1)
    await connection?.flushall()
    await eventually('the second loss is found, too', async () => {
      await created(store, aTransaction(hex(8)))
      return store.counters().losses === 2
    })
  })

  it('A Redis that has forgotten all, under a store that only polls, is reported', async () => {
    const opened = await open(server.url)
    await created(opened.store, aTransaction('a'))
    await marked(opened)
    const [connection] = await connect(server.url)
    await connection?.flushall()
    await eventually('a poll finds out', async () => {
      await poll(opened.store)
      return reported(opened.events).length > 0
    })
    await expectReported(opened)
  })

  it('A Redis that was restarted from an older copy of its files is reported with the window of the loss', async () => {
    const opened = await open(server.url)
    const { store } = opened
    await marked(opened)
    const dir = await folder()
    await cp(dir, join(copies, 'old'), { recursive: true })
    const knownUntil = Date.now()
    await marked(opened)
    const row = await created(store, aTransaction('lost'))
    const lostAt = Date.now()
    await server.kill()
    await rm(dir, { recursive: true })
    await cp(join(copies, 'old'), dir, { recursive: true })
    await server.restart()
    await untilBack(opened)
    const event = await expectReported(opened)
    const [from = 0, until = 0] = (event.detail.match(/20[0-9T:.-]+Z/g) ?? []).map((instant) =>
      Date.parse(instant),
    )
    expect(from).toBeLessThanOrEqual(knownUntil)
    expect(until).toBeGreaterThan(knownUntil)
    expect(until).toBeLessThanOrEqual(lostAt)
    expect(await store.update(makeUpdate(row))).toEqual({ type: 'absent' })
  })

  for (const [what, change] of Object.entries({
    'a create': async (store: RedisStore) => void (await created(store, aTransaction('last'))),
    'an update': async (store: RedisStore, before: Awaited<ReturnType<typeof created>>) =>
      void (await saved(store, makeUpdate(before, { type: 'keep' }, { status: 'aborting' }))),
    'a document': async (store: RedisStore) =>
      void (await store.writeDocument({ ...DOCUMENT, key: 'last', expectedVersion: 0, writeId: 'w-last' })),
    'the removal of a document': async (store: RedisStore) =>
      void (await store.removeDocument({ ...DOCUMENT, key: 'before', expectedVersion: 1 })),
  })) {
    it(`A loss is reported when only ${what} was acknowledged after the last mark`, async () => {
      const opened = await open(server.url)
      const before = await created(opened.store, aTransaction('before'))
      await opened.store.writeDocument({
        ...DOCUMENT,
        key: 'before',
        expectedVersion: 0,
        writeId: 'w-before',
      })
      await marked(opened)
      const dir = await folder()
      // The kill comes within the second of the mark, so no newer mark is written before it.
      await cp(dir, join(copies, 'old'), { recursive: true })
      await change(opened.store, before)
      await server.kill()
      await rm(dir, { recursive: true })
      await cp(join(copies, 'old'), dir, { recursive: true })
      await server.restart()
      await untilBack(opened)
      // An inspection may meet a call that still fails, or a Redis that still loads. The next poll repeats it.
      await eventually('a poll finds the loss', async () => {
        await poll(opened.store)
        return reported(opened.events).length > 0
      })
      await expectReported(opened)
    })
  }

  it('A clean kill or restart is not reported, whatever the last write was', async () => {
    const opened = await open(server.url)
    const { store } = opened
    const writes = [
      () => created(store, aTransaction(hex(8))),
      async () => saved(store, makeUpdate(await created(store, aTransaction(hex(8))))),
      () => store.writeDocument({ ...DOCUMENT, key: 'a', expectedVersion: 0, writeId: 'w-a' }),
      () => store.removeDocument({ ...DOCUMENT, key: 'a', expectedVersion: 1 }),
      () => finished(store, hex(8), 60_000),
      () => finished(store, hex(8), 1),
      () => finished(store, hex(8), 'never'),
      async () => {
        await finished(store, hex(8), 1)
        return eventually('it is purged', async () => (await store.purgeFinished(10)).purged)
      },
      async () => {
        await created(store, { ...aTransaction(hex(8)), hold: { type: 'waiting', dueInMs: 0 } })
        return poll(store)
      },
    ]
    for (const [i, write] of writes.entries()) {
      await marked(opened)
      await write()
      if (i % 2 === 0) await server.kill()
      await server.restart()
      await untilBack(opened)
    }
    await marked(opened)
    await eventually('polls have looked', async () => {
      await poll(store)
      return opened.events.filter((event) => event.name === 'store-connected').length >= writes.length
    })
    expect(reported(opened.events)).toEqual([])
    expect(store.counters()).toMatchObject({ losses: 0, breaks: writes.length })
  })

  it('A gid that is used again after its retention is no loss', async () => {
    const opened = await open(server.url)
    const { store, keysFor } = opened
    const gid = hex(8)
    // This is the last write of the shard that this process knows.
    await finished(store, gid, 1)
    await eventually('it is gone', async () => (await store.readMany([gid as Gid])).length === 0)
    // Another node makes this write.
    const [connection] = await connect(server.url)
    const call = writeRowsCall(keysFor(gid), [createRow(keysFor(gid), aTransaction(gid))])
    await connection?.eval(SCRIPTS.writeRows, call.keys.length, ...call.keys, ...call.args)
    await connection?.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await eventually('the break is noticed', () => store.counters().breaks > 0)
    await untilBack(opened)
    // No mark is written before the inspection is done.
    await marked(opened)
    expect(reported(opened.events)).toEqual([])
  })

  it('A server that comes back with a lower class is reported', async () => {
    const opened = await open(server.url)
    const [connection] = await connect(server.url)
    await connection?.config('SET', 'appendfsync', 'everysec')
    await connection?.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await eventually('it is reported', () =>
      opened.events.some((event) => event.name === 'store-class-lowered'),
    )
  })
})

describeOwn('redis-cluster', 'a node that has forgotten', () => {
  const { open, connect } = openedForTests()

  it('A node that has forgotten is reported by name, once, and the others are not', async () => {
    const cluster = await startRedisCluster()
    try {
      const opened = await open(cluster.url)
      const { store, keyPrefix } = opened
      const connections = await connect(cluster.url)
      await eventually('every node has a mark', async () => {
        await Promise.all(Array.from({ length: 20 }, () => created(store, aTransaction(hex(8)))))
        const marks = await Promise.all(
          connections.map((connection) => connection.keys(`${keyPrefix}:*:mark:*`)),
        )
        return marks.every((keys) => keys.length === 1)
      })
      await connections[1]?.flushall()
      await eventually('a poll finds out', async () => {
        await poll(store)
        return reported(opened.events).length > 0
      })
      const event = await expectReported(opened)
      expect(event.detail).toContain(`127.0.0.1:${cluster.nodes[1]?.port}`)
    } finally {
      await cluster.stop()
    }
  })
})
