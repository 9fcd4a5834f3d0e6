import { startRedis, startRedisCluster } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, hex, makeUpdate, saved } from './transactions.ts'

const CALLERS = 64
const FLUSHES = 20

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOwn(server, 'the script cache', () => {
    const { open, connect } = openedForTests()

    it('The script cache may be flushed under load, and no caller notices', async () => {
      const started = server === 'redis' ? await startRedis() : await startRedisCluster()
      try {
        const { store } = await open(started.url)
        const connections = await connect(started.url)
        let isOver = false
        let sagas = 0
        async function run(caller: number): Promise<void> {
          for (let i = 0; !isOver; i++) {
            const row = await created(store, aTransaction(`${caller}-${i}`))
            await saved(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }))
            sagas += 1
          }
        }
        const callers = Array.from({ length: CALLERS }, (_, caller) => run(caller))
        for (let flush = 0; flush < FLUSHES; flush++) {
          const before = sagas
          await Promise.all(connections.map((connection) => connection.script('FLUSH')))
          while (sagas < before + CALLERS) {
            await store.claimDue({ limit: 1, leaseMs: 1, tokens: [hex(16)], formatMax: 1 })
          }
        }
        isOver = true
        await Promise.all(callers)
        expect(sagas).toBeGreaterThan(FLUSHES * CALLERS)
        expect((await store.stats()).unfinished.submitted).toBe(0)
        const misses = connections.map(async (connection) =>
          Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(await connection.info('errorstats'))?.[1] ?? 0),
        )
        // The test proves something only if the server has missed scripts.
        for (const count of await Promise.all(misses)) expect(count).toBeGreaterThan(FLUSHES)
      } finally {
        await started.stop()
      }
    })
  })
}
