import { startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openedForTests } from './open-stores.ts'
import { aTransaction, hex, makeUpdate } from './transactions.ts'

const SAGAS = 12_800
const CALLERS = 64
/** The test measured 1,180 with 36 characters of gid and 311 + 35 of texts. The rest is room for another allocator. */
const BYTES_PER_SAGA_MAX = 1_500

describeOwn('redis', 'a finished saga', () => {
  const { open, connect } = openedForTests()

  it('A finished saga of two branches takes no more memory than it should, and none when it is purged', async () => {
    const server = await startRedis()
    try {
      const { store, keyPrefix } = await open(server.url, { keyPrefix: 'counterstep' })
      const [connection] = await connect(server.url)
      const used = async () => Number(/used_memory:(\d+)/.exec((await connection?.info('memory')) ?? '')?.[1])
      const keys = async () => Number(await connection?.dbsize())
      const [bytesBefore, keysBefore] = [await used(), await keys()]
      const texts = { definition: 'd'.repeat(311), progress: 'p'.repeat(35) }
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          for (let i = 0; i < SAGAS / CALLERS; i++) {
            const transaction = aTransaction(crypto.randomUUID(), { ...texts, digest: hex(32) })
            await store.create(transaction)
            const written = { gid: transaction.gid, token: transaction.token, version: 1 }
            const finish = { type: 'finish', retentionMs: 2_000 } as const
            await store.update(makeUpdate(written, finish, { progress: texts.progress }))
          }
        }),
      )
      const bytes = ((await used()) - bytesBefore) / SAGAS
      process.stdout.write(`a finished saga of two branches takes ${Math.round(bytes)} bytes of Redis\n`)
      expect(bytes).toBeLessThan(BYTES_PER_SAGA_MAX)
      let purged = 0
      while (purged < SAGAS) purged += (await store.purgeFinished(1_000)).purged
      expect(purged).toBe(SAGAS)
      // These are the counts, the number of shards, and the mark of this process.
      const left = (await connection?.keys(`${keyPrefix}:*`)) ?? []
      expect(left.filter((key) => !/:(counts|shards|mark:.+)$/.test(key))).toEqual([])
      expect((await keys()) - keysBefore).toBeLessThanOrEqual(3)
    } finally {
      await server.stop()
    }
  })
})
