import { describeOn } from '@counterstep/test-servers/vitest'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openPostgresStore, type PostgresOptions } from '../src/open-postgres-store.ts'
import type { PostgresStore } from '../src/postgres-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { inTransaction, lockRow, onLockedRow } from './row-locks.ts'
import { type TestSchema, testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken, makeGids, makeUpdate } from './transactions.ts'

const POLL = { timeout: 10_000 }

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'row locks of others', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    async function withStore(
      test: (store: PostgresStore, schema: TestSchema) => Promise<void>,
      options: Partial<PostgresOptions> = { lockWaitTimeoutMs: 1_000 },
    ) {
      places += 1
      const schema = await databases.migrated(`contention-${places}`)
      const store = await openPostgresStore({ url: schema.url, ...options })
      try {
        await test(store, schema)
      } finally {
        await store.close()
      }
    }

    /** Resolves when so many statements of the store wait for locks. */
    async function waitUntilLocked({ name }: TestSchema, count = 1): Promise<void> {
      const waiting = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = '${name}'`
      await expect.poll(async () => Number((await databases.sql(waiting))[0]?.[0]), POLL).toBe(count)
    }

    it('A row that another session locks does not keep its neighbours from being written', () =>
      withStore(async (store, { ownerUrl }) => {
        const transactions = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const updates = transactions.map((transaction) => makeUpdate(transaction, { progress: 'new' }))
        await onLockedRow(ownerUrl, 'b', async () => {
          const saves = updates.map((update) => store.update(update))
          await new Promise(setImmediate)
          let isBlocked = true
          const blocked = expectUnavailable(saves[1] ?? Promise.resolve(), 'no').then(() => {
            isBlocked = false
          })
          expect(await store.create(aTransaction('later'))).toMatchObject({ type: 'created' })
          expect(isBlocked).toBe(true)
          expect(await saves[0]).toMatchObject({ type: 'saved' })
          expect(await saves[2]).toMatchObject({ type: 'saved' })
          await blocked
        })
        for (const update of updates) expect(await store.update(update)).toMatchObject({ type: 'saved' })
      }))

    it('A row that another session locks fails alone also where a statement may take less long than the lock', () =>
      withStore(
        async (store, { ownerUrl }) => {
          const transactions = makeGids(20).map((gid) => aTransaction(gid))
          await Promise.all(transactions.map((transaction) => store.create(transaction)))
          await onLockedRow(ownerUrl, 't-3', async () => {
            await Promise.all(
              transactions.map(async (transaction) => {
                const save = store.update(makeUpdate(transaction))
                if (transaction.gid === 't-3') await expectUnavailable(save, 'no')
                else expect(await save).toMatchObject({ type: 'saved' })
              }),
            )
          })
        },
        { statementTimeoutMs: 100 },
      ))

    it('A flush that is chosen to end a deadlock is repeated whole and no caller notices', () =>
      withStore(
        async (store, { ownerUrl, name }) => {
          // Only a session that waits so long looks for a deadlock, and only the store's sessions wait no longer.
          await databases.sql(`ALTER ROLE ${name} SET deadlock_timeout = '2s'`)
          await databases.sql(`ALTER ROLE ${name}_owner SET deadlock_timeout = '1h'`)
          await inTransaction(ownerUrl, async (other) => {
            await store.create(aTransaction('template'))
            const insert = (gid: string) => copyRow('template', gid)
            await other.query(insert('b'))
            // The flush inserts its first row and then waits for the second, which the other has inserted.
            const creates = ['a', 'b'].map((gid) => store.create(aTransaction(gid)))
            await waitUntilLocked({ name, ownerUrl, url: '' })
            // The other waits for the store's, and goes on when the store has been rolled back.
            await other.query(insert('a'))
            await other.query('ROLLBACK')
            for (const create of creates) expect(await create).toMatchObject({ type: 'created' })
          })
          expect(store.counters().retries).toBeGreaterThanOrEqual(1)
        },
        { lockWaitTimeoutMs: 20_000 },
      ))

    it('A table that is locked as a whole fails the writes that wait for it, for certain and all at once', () =>
      withStore(
        async (store, { ownerUrl }) => {
          const transactions = makeGids(600).map((gid) => aTransaction(gid))
          await inTransaction(ownerUrl, async (other) => {
            await other.query('LOCK TABLE counterstep_transactions IN SHARE MODE')
            const creates = transactions.map((transaction) => store.create(transaction))
            await Promise.all(creates.map((create) => expectUnavailable(create, 'no')))
          })
          const again = await Promise.all(transactions.map((transaction) => store.create(transaction)))
          for (const created of again) expect(created).toMatchObject({ type: 'created' })
        },
        { statementTimeoutMs: 3_000, queueRowsMax: 600 },
      ))

    it('A row that another session locks does not keep its neighbours from being renewed', () =>
      withStore(async (store, { ownerUrl }) => {
        const transactions = makeGids(50).map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const leases = transactions.map(({ gid, token }) => ({ gid, token }))
        await onLockedRow(ownerUrl, 't-25', async () => {
          const foreign = leases.map((lease) =>
            lease.gid === 't-26' ? { gid: lease.gid, token: drawToken() } : lease,
          )
          const { renewed, lost, now } = await store.renew(foreign, 60_000)
          expect(renewed).toHaveLength(48)
          expect(renewed.map(({ gid }) => gid)).not.toContain('t-25')
          expect(lost).toEqual(['t-26'])
          const rows = await store.readMany(leases.map(({ gid }) => gid))
          const kept = rows.filter(({ dueAt }) => dueAt >= now + 60_000).map(({ gid }) => gid)
          expect(kept.sort()).toEqual(renewed.map(({ gid }) => gid).sort())
        })
        const again = await store.renew(leases, 60_000)
        expect([again.renewed.length, again.lost]).toEqual([50, []])
      }))

    it('A create waits for one whose outcome is not known, and then gets its result', () =>
      withStore(
        async (store, schema) => {
          const transaction = aTransaction('copy')
          await store.create(aTransaction('a', { digest: 'd'.repeat(64) }))
          await inTransaction(schema.ownerUrl, async (other) => {
            await other.query(copyRow('a', 'copy'))
            const create = store.create(transaction)
            await waitUntilLocked(schema)
            await other.query('COMMIT')
            expect(await create).toMatchObject({ type: 'exists', digest: 'd'.repeat(64) })
          })
        },
        { lockWaitTimeoutMs: 20_000 },
      ))

    it('An update waits for a claim whose outcome is not known, and is then fenced', () =>
      withStore(
        async (store, schema) => {
          const transaction = aTransaction('a')
          await store.create(transaction)
          await inTransaction(schema.ownerUrl, async (other) => {
            await other.query(
              "UPDATE counterstep_transactions SET token = 'other', version = version + 1 WHERE gid = 'a'",
            )
            const save = store.update(makeUpdate(transaction))
            await waitUntilLocked(schema)
            await other.query('COMMIT')
            expect(await save).toEqual({ type: 'fenced' })
          })
        },
        { lockWaitTimeoutMs: 20_000 },
      ))

    it('The locks of a node that has stopped within a database transaction end by themselves', () =>
      withStore(async (store, { url }) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        // This is the time that the store asks for on its own sessions.
        const timeout = 'idle_in_transaction_session_timeout'
        const stopped = new pg.Client({ connectionString: url, [timeout]: 10_000 })
        const ended = new Promise((resolve) => stopped.on('error', resolve))
        await stopped.connect()
        await stopped.query('BEGIN')
        await stopped.query(lockRow('a'))
        const update = makeUpdate(transaction, { progress: 'new' })
        await expectUnavailable(store.update(update), 'no')
        await expect
          .poll(() => store.update(update).catch(() => undefined), { timeout: 20_000 })
          .toMatchObject({ type: 'saved' })
        expect(await ended).toMatchObject({ code: '25P03' })
        expect(await store.readMany([transaction.gid])).toMatchObject([{ progress: 'new', attention: false }])
      }))

    it('A claim, a postponement and a purge leave locked rows alone and do not wait', () =>
      withStore(async (store, { ownerUrl }) => {
        const due = { hold: { type: 'waiting', dueInMs: 0 } } as const
        for (const gid of ['a', 'b', 'c', 'd']) await store.create(aTransaction(gid, due))
        for (const gid of ['x', 'y']) {
          const row = aTransaction(gid)
          await store.create(row)
          await store.update(
            makeUpdate(row, { status: 'succeeded', hold: { type: 'finish', retentionMs: 0 } }),
          )
        }
        await inTransaction(ownerUrl, async (other) => {
          for (const gid of ['a', 'x']) await other.query(lockRow(gid))
          const tokens = [drawToken(), drawToken()]
          const { claimed } = await store.claimDue({ limit: 2, leaseMs: 10_000, tokens, formatMax: 1 })
          expect(claimed.map(({ gid }) => gid)).toEqual(['b', 'c'])
          expect(claimed.map(({ token }) => token)).toEqual(tokens)
          const { gids } = await store.postponeDue({ limit: 3, byMs: 60_000, formatMax: 1 })
          expect(gids).toEqual(['d'])
          expect(await store.purgeFinished(10)).toEqual({ purged: 1 })
          const one = { gid: asGid('a'), token: drawToken(), leaseMs: 1, formatMax: 1 }
          await expectUnavailable(store.claim(one), 'no')
          expect(store.counters().retries).toBe(1)
        })
        expect(await store.purgeFinished(10)).toEqual({ purged: 1 })
        expect((await store.postponeDue({ limit: 3, byMs: 60_000, formatMax: 1 })).gids).toEqual(['a'])
      }))
  })
}

/** Writes the statement that creates a row like another one. */
function copyRow(from: string, to: string): string {
  const columns = `due_at, created_at, updated_at, version, epoch, format, claims, attempts, live, kind, status, owned, sent_list,
    retrying, attention, marks, token, write_id, digest, progress, definition`
  return `INSERT INTO counterstep_transactions (gid, ${columns})
    SELECT '${to}', ${columns} FROM counterstep_transactions WHERE gid = '${from}'`
}
