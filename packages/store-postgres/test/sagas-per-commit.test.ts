import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { withProxiedStore } from './proxied-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeGids, makeUpdate } from './transactions.ts'

const CALLERS = 64
const SAGAS_PER_CALLER = 30
/** The bound of the issue on PostgreSQL as a store. */
const COMMITS_PER_SAGA_MAX = 0.2
const FLUSH_PATIENCE_MS = 3

const FINISH = { status: 'succeeded', hold: { type: 'finish', retentionMs: 60_000 } } as const

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'the database transactions of sagas', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it(`A saga of ${CALLERS} callers takes less than a fifth of a database transaction, as the server counts them`, async () => {
      const { url } = await databases.migrated('counted')
      const database = new URL(url).pathname.slice(1)
      const readCommits = async () => {
        // A session reports what it has done once it is idle for a second, or when it ends.
        const [row] = await databases.sql(
          `SELECT xact_commit FROM pg_stat_database WHERE datname = '${database}'`,
        )
        return Number(row?.[0])
      }
      const noSessions = `SELECT count(*) FROM pg_stat_activity WHERE datname = '${database}'`
      await expect.poll(async () => (await databases.sql(noSessions))[0]?.[0]).toBe('0')
      const before = await readCommits()
      const store = await openPostgresStore({ url, flushPatienceMs: FLUSH_PATIENCE_MS })
      const run = async (_: unknown, caller: number) => {
        for (let i = 0; i < SAGAS_PER_CALLER; i++) {
          const transaction = aTransaction(`t-${caller}-${i}`)
          expect(await store.create(transaction)).toMatchObject({ type: 'created' })
          expect(await store.update(makeUpdate(transaction, FINISH))).toMatchObject({ type: 'saved' })
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, run))
      const { commits, rows, retries } = store.counters()
      await store.close()
      await expect.poll(async () => (await databases.sql(noSessions))[0]?.[0]).toBe('0')
      const counted = (await readCommits()) - before
      const sagas = CALLERS * SAGAS_PER_CALLER
      process.stdout.write(`${server}: ${counted} database transactions for ${sagas} sagas\n`)
      expect([rows, retries]).toEqual([2 * sagas, 0])
      // The server counts the flushes, and the few statements that open a store and its sessions.
      expect(counted).toBeGreaterThanOrEqual(commits)
      expect(counted / sagas).toBeLessThan(COMMITS_PER_SAGA_MAX)
    })

    for (const multiplexed of [false, true]) {
      it(`A flush is one statement without BEGIN and COMMIT, ${multiplexed ? 'also for a pooler' : 'for a session of its own'}`, async () => {
        const { url } = await databases.migrated(`one-${multiplexed}`)
        await withProxiedStore(url, { multiplexed }, async ({ store, wire }) => {
          const rows = makeGids(80).map((gid, i) =>
            aTransaction(gid, i % 2 === 0 ? { tags: { region: 'eu' } } : {}),
          )
          await Promise.all(rows.map((row) => store.create(row)))
          wire.takeStatements()
          const updates = rows.map((row, i) => store.update(makeUpdate(row, { attention: i % 2 === 0 })))
          const answers = await Promise.all([
            store.create(aTransaction('new', { tags: { region: 'us' } })),
            ...updates,
          ])
          expect(answers.map(({ type }) => type)).toEqual(['created', ...rows.map(() => 'saved')])
          const sent = wire.takeStatements()
          expect(sent).toHaveLength(1)
          for (const part of ['created AS (', 'updated AS (', 'entered AS (']) expect(sent[0]).toContain(part)
        })
      })
    }
  })
}
