import { DOCUMENT_TEXT_BYTES_MAX, type DocumentWrite } from '@counterstep/core'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RedisStore } from '../src/redis-store.ts'
import { MANY_SHARDS, ShardKeys } from '../src/shards/shards.ts'
import { eventually } from './eventually.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { hex } from './transactions.ts'

const COMMAND_TIMEOUT_MS = 500
const CATEGORY = 'topics'

function aDocument(key: string, change: Partial<DocumentWrite> = {}): DocumentWrite {
  return { category: CATEGORY, key, text: 'text', expectedVersion: 0, writeId: hex(16), ...change }
}

describeOwn('redis', 'documents', () => {
  const { open, connect } = openedForTests()
  let server: RedisServer
  let proxy: TcpProxy
  beforeAll(async () => {
    server = await startRedis()
    proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  function untilBack(store: RedisStore): Promise<unknown> {
    return eventually('the store answers again', () =>
      store.stats().then(
        () => true,
        () => false,
      ),
    )
  }

  const losses = {
    'the command was lost': (key: string) => proxy.cutBefore((chunk) => chunk.includes(key)),
    'its answer was lost': (key: string) => proxy.dropAnswerWhen((chunk) => chunk.includes(key)),
  }
  for (const [name, lose] of Object.entries(losses)) {
    it(`A document is unknown when ${name}, and lands once when it is sent again`, async () => {
      const { store } = await open(proxy.through(server.url), { commandTimeoutMs: COMMAND_TIMEOUT_MS })
      const key = `key-${hex(4)}`
      const writes = [aDocument(key), aDocument(key, { text: 'new', expectedVersion: 1 })]
      for (const [i, write] of writes.entries()) {
        const fault = lose(key)
        await expectUnavailable(store.writeDocument(write), 'unknown')
        expect(fault.bites()).toBe(1)
        await untilBack(store)
        expect(await store.writeDocument(write)).toEqual({ type: 'written', version: i + 1 })
      }
      expect(await store.readDocuments(CATEGORY)).toMatchObject([{ key, text: 'new', version: 2 }])
      const removal = { category: CATEGORY, key, expectedVersion: 2 }
      lose(key)
      await expectUnavailable(store.removeDocument(removal), 'unknown')
      await untilBack(store)
      expect((await store.removeDocument(removal)).type).toMatch(/^(removed|absent)$/)
      expect(await store.readDocuments(CATEGORY)).toEqual([])
    })
  }

  it('A full Redis refuses documents for certain, and still lets them be read and removed', async () => {
    const { store } = await open(server.url)
    const [connection] = await connect(server.url)
    await store.writeDocument(aDocument('a'))
    await connection?.config('SET', 'maxmemory', '1mb')
    try {
      await expectUnavailable(store.writeDocument(aDocument('b')), 'no')
      await expectUnavailable(store.writeDocument(aDocument('a', { expectedVersion: 1 })), 'no')
      expect(await store.readDocuments(CATEGORY)).toMatchObject([{ key: 'a', version: 1 }])
      const removal = { category: CATEGORY, key: 'a', expectedVersion: 1 }
      expect(await store.removeDocument(removal)).toEqual({ type: 'removed' })
    } finally {
      await connection?.config('SET', 'maxmemory', '0')
    }
    expect(await store.writeDocument(aDocument('b'))).toEqual({ type: 'written', version: 1 })
  })

  it('Documents of a later layout are left alone, by name', async () => {
    const { store, keyPrefix } = await open(server.url)
    const [connection] = await connect(server.url)
    const categoryKey = new ShardKeys(keyPrefix, MANY_SHARDS.toShard(CATEGORY)).documents(CATEGORY)
    await connection?.hset(categoryKey, 'newer', '2 1 1 w x\ntext')
    const calls = [
      () => store.writeDocument(aDocument('newer')),
      () => store.removeDocument({ category: CATEGORY, key: 'newer', expectedVersion: 1 }),
      () => store.readDocuments(CATEGORY),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
    expect(await connection?.hget(categoryKey, 'newer')).toBe('2 1 1 w x\ntext')
  })

  it('Documents are read in answers of a bounded size', async () => {
    const { store } = await open(server.url)
    const keys = Array.from({ length: 64 }, (_, i) => `k-${i}`)
    const text = 'x'.repeat(DOCUMENT_TEXT_BYTES_MAX)
    await Promise.all(keys.map((key) => store.writeDocument(aDocument(key, { text }))))
    const [connection] = await connect(server.url)
    await connection?.config('RESETSTAT')
    expect(await store.readDocuments(CATEGORY)).toHaveLength(64)
    const stats = (await connection?.info('commandstats')) ?? ''
    // The documents are 4 MiB and are read 1 MiB at a time: with their heads, an answer has 15 documents.
    expect(stats).toMatch(/cmdstat_hmget:calls=5,/)
  })
})
