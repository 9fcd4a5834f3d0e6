import { isPostgresWrite } from '@counterstep/test-servers'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import type { PostgresOptions } from '../src/open-postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { type ProxiedStore, withProxiedStore } from './proxied-store.ts'
import { onLockedRow } from './row-locks.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken, makeGids, makeUpdate } from './transactions.ts'
import { sendUntilDefinite } from './until-definite.ts'

const AMBIGUOUS_COMMITS = 200
const CALLERS = 8
const READ_ROWS = 500

/** The store tries two more connections after a lost one. */
const TRIES = 3
const LOSSES = { 'the flush was lost': 'request', 'its answer was lost': 'answer' } as const

for (const server of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(server, 'a flush on a network that fails', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    const multiplexed = server === 'pgbouncer'
    let places = 0

    async function withProxy(
      test: (proxied: ProxiedStore) => Promise<void>,
      options: Partial<PostgresOptions> = {},
    ) {
      places += 1
      const { url } = await databases.migrated(`network-${places}`)
      await withProxiedStore(url, { multiplexed, ...options }, test)
    }

    for (const [name, part] of Object.entries(LOSSES)) {
      it(`The outcome is unknown when ${name} on each connection, and the same writes sent again land once`, () =>
        withProxy(async ({ store, wire }) => {
          const transactions = makeGids(10).map((gid) => aTransaction(gid))
          const fault = wire.lose(part, isPostgresWrite, TRIES)
          const creates = transactions.map((transaction) => store.create(transaction))
          await Promise.all(creates.map((create) => expectUnavailable(create, 'unknown')))
          expect(fault.bites()).toBe(TRIES)
          const [row] = transactions
          if (row === undefined) throw new Error('no row')
          for (const transaction of transactions) {
            expect(await store.create(transaction)).toMatchObject({ type: 'created' })
          }
          const update = makeUpdate(row, { progress: 'new' })
          const again = wire.lose(part, isPostgresWrite, TRIES)
          await expectUnavailable(store.update(update), 'unknown')
          expect(again.bites()).toBe(TRIES)
          const saved = await store.update(update)
          const [stored] = await store.readMany([row.gid])
          expect(saved).toMatchObject({ type: 'saved', version: stored?.version })
          expect(stored).toMatchObject({ progress: 'new', writeId: update.writeId, epoch: 1 })
          expect((await store.list({ limit: 20 })).items).toHaveLength(10)
        }))

      it(`A flush gets a certain answer, on another connection, when ${name} once`, () =>
        withProxy(async ({ store, wire }) => {
          const [kept, changed] = [aTransaction('a'), aTransaction('b')]
          await store.create(changed)
          const update = makeUpdate(changed, { progress: 'new' })
          const fault = wire.lose(part, isPostgresWrite)
          const answers = await Promise.all([store.create(kept), store.update(update)])
          expect(fault.bites()).toBe(1)
          const stored = new Map((await store.readMany([kept.gid, changed.gid])).map((row) => [row.gid, row]))
          expect(answers).toMatchObject([
            { type: 'created', createdAt: stored.get(kept.gid)?.createdAt },
            { type: 'saved', version: stored.get(changed.gid)?.version },
          ])
          expect(store.counters()).toEqual({ commits: 2, rows: 3, retries: 1 })
        }))
    }

    it('The look at the rows that a flush has left leaves their outcome open when its answer is lost', () =>
      withProxy(async ({ store, wire }) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const isLook = (sql: string) => sql.includes('FOR KEY SHARE')
        const fault = wire.lose('answer', isLook, TRIES)
        const [again, fresh] = [store.create(transaction), store.create(aTransaction('b'))]
        await expectUnavailable(again, 'unknown')
        // This one was written by the same flush, and needs no look.
        expect(await fresh).toMatchObject({ type: 'created' })
        expect(fault.bites()).toBe(TRIES)
        expect(await store.create(transaction)).toMatchObject({ type: 'created' })
      }))

    it('A claim whose answer was lost leaves the row to one owner, whatever the caller is told', () =>
      withProxy(async ({ store, wire }) => {
        const row = aTransaction('a', { hold: { type: 'waiting', dueInMs: 0 } })
        await store.create(row)
        const claim = { gid: row.gid, token: drawToken(), leaseMs: 60_000, formatMax: 1 }
        const fault = wire.lose('answer', isPostgresWrite)
        const result = await store.claim(claim)
        expect(fault.bites()).toBe(1)
        expect(result.type === 'claimed' || (result.type === 'refused' && result.reason === 'held')).toBe(
          true,
        )
        expect(await store.readMany([row.gid])).toMatchObject([{ owned: true, token: claim.token, epoch: 2 }])
      }))

    // A pooler may forget a statement whose client has gone before it has a connection for it.
    if (!multiplexed) {
      it('A write lands once when its connection is cut while the server waits with it for a lock', () =>
        withProxy(
          async ({ store, wire, url }) => {
            const row = aTransaction('a')
            await store.create(row)
            await onLockedRow(url, 'a', async (unlock) => {
              const fault = wire.lose('connection', isPostgresWrite)
              const update = makeUpdate(row, { progress: 'new' })
              const saving = store.update(update)
              // Both wait now, the one that has no client any more and the one that was sent again.
              const waiting = `SELECT count(*) FROM pg_stat_activity
                WHERE wait_event_type = 'Lock' AND usename = '${new URL(url).username}'`
              await expect.poll(async () => (await databases.sql(waiting))[0]?.[0]).toBe('2')
              await unlock()
              const saved = await saving
              expect([saved.type, fault.bites()]).toEqual(['saved', 1])
              expect(await store.readMany([row.gid])).toMatchObject([
                {
                  progress: 'new',
                  writeId: update.writeId,
                  version: saved.type === 'saved' && saved.version,
                },
              ])
            })
          },
          { lockWaitTimeoutMs: 20_000 },
        ))

      it('A write is never certain to have failed after a try whose outcome is unknown', () =>
        withProxy(
          async ({ store, wire, url }) => {
            const row = aTransaction('a')
            await store.create(row)
            await onLockedRow(url, 'a', async () => {
              const fault = wire.lose('request', isPostgresWrite)
              await expectUnavailable(store.update(makeUpdate(row)), 'unknown')
              expect(fault.bites()).toBe(1)
            })
          },
          { lockWaitTimeoutMs: 1_000 },
        ))
    }

    it(
      `The store loses and doubles nothing over ${AMBIGUOUS_COMMITS} lost flushes`,
      { timeout: 120_000 },
      () =>
        withProxy(async ({ store, wire }) => {
          // Five of six in a row are lost, so that some flushes learn their outcome by themselves and some do not.
          let [sent, passed] = [0, 0]
          const isCut = (sql: string) => isPostgresWrite(sql) && sent++ % 2 === 0
          const isUnanswered = (sql: string) => isPostgresWrite(sql) && passed++ % 3 < 2
          const faults = [
            wire.lose('request', isCut, AMBIGUOUS_COMMITS / 2),
            wire.lose('answer', isUnanswered, AMBIGUOUS_COMMITS / 2),
          ]
          const bites = () => faults.reduce((sum, fault) => sum + fault.bites(), 0)
          const versions = new Map<string, number>()
          let gids = 0
          let unknown = 0
          const untilDefinite = <T>(send: () => Promise<T>) => sendUntilDefinite(send, () => unknown++)
          const call = async () => {
            while (bites() < AMBIGUOUS_COMMITS) {
              gids += 1
              const transaction = aTransaction(`t-${gids}`)
              const created = await untilDefinite(() => store.create(transaction))
              expect(created.type).toBe('created')
              let version = 1
              for (const progress of ['1', '2']) {
                const update = makeUpdate(transaction, { version, progress })
                const saved = await untilDefinite(() => store.update(update))
                if (saved.type !== 'saved') throw new Error(`${transaction.gid}: ${saved.type}`)
                version = saved.version
              }
              versions.set(transaction.gid, version)
            }
          }
          await Promise.all(Array.from({ length: CALLERS }, call))
          expect(bites()).toBe(AMBIGUOUS_COMMITS)
          expect(unknown).toBeGreaterThan(0)
          expect(versions.size).toBe(gids)
          const all = [...versions.keys()].map(asGid)
          for (let from = 0; from < all.length; from += READ_ROWS) {
            const chunk = all.slice(from, from + READ_ROWS)
            const rows = await store.readMany(chunk)
            expect(rows).toHaveLength(chunk.length)
            for (const row of rows)
              expect(row).toMatchObject({ version: versions.get(row.gid), progress: '2' })
          }
        }),
    )
  })
}
