import { setTimeout as delay } from 'node:timers/promises'
import { describeOn } from '@counterstep/test-servers/vitest'
import mysql, { type Connection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import type { MysqlStore } from '../src/mysql-store.ts'
import { type MysqlOptions, openMysqlStore } from '../src/open-mysql-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken, makeGids, makeUpdate } from './transactions.ts'

const FROZEN = {
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 2_000,
  lockWaitTimeoutMs: 1_000,
  autocommit: false,
}

/** This statement locks a row until the end of its database transaction. */
const LOCK = 'UPDATE counterstep_transactions SET attention = 1 - attention WHERE gid = '

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'row locks of others', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    /** Opens a store, and another connection that locks its rows. */
    async function withOther(
      test: (store: MysqlStore, other: Connection) => Promise<void>,
      options: Partial<MysqlOptions> = { lockWaitTimeoutMs: 1_000 },
    ) {
      places += 1
      const { url, rootUrl } = await databases.migrated(`contention-${places}`)
      const store = await openMysqlStore({ url, ...options })
      const other = await mysql.createConnection({ uri: rootUrl })
      await other.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
      try {
        await test(store, other)
      } finally {
        other.destroy()
        await store.close()
      }
    }

    /** Locks a row by another transaction for a time that is too long. */
    function lockedFor(gid: string, ms: number) {
      const holder = databases
        .migrated(`contention-${places}`)
        .then(({ rootUrl }) => mysql.createConnection({ uri: rootUrl }))
      const isLocked = holder.then(async (connection) => {
        await connection.beginTransaction()
        await connection.query(`${LOCK}'${gid}'`)
      })
      const isFree = isLocked.then(async () => {
        await delay(ms)
        const connection = await holder
        await connection.rollback()
        connection.destroy()
      })
      return { isLocked, isFree }
    }

    async function storeWaits(): Promise<void> {
      const waiting = `SELECT COUNT(*) FROM information_schema.INNODB_TRX
        JOIN information_schema.PROCESSLIST ON ID = trx_mysql_thread_id
        WHERE trx_state = 'LOCK WAIT' AND DB = '${(await databases.migrated(`contention-${places}`)).name}'`
      // The server answers from a copy that it renews only after 100 ms without a question.
      const options = { timeout: 3_500, interval: 250 }
      await expect.poll(async () => (await databases.sql(waiting))[0]?.[0], options).toBe(1)
    }

    it('A deadlock is repeated whole and no caller notices', () =>
      withOther(
        async (store, other) => {
          const transactions = makeGids(20).map((gid) => aTransaction(gid))
          await Promise.all(transactions.map((transaction) => store.create(transaction)))
          const [first, last] = ['t-18', 't-9'].map((gid) => transactions.find((row) => row.gid === gid))
          if (first === undefined || last === undefined) throw new Error('no rows')
          await other.beginTransaction()
          // The transaction that has changed more rows survives, so the store's is rolled back.
          await other.query(
            "UPDATE counterstep_transactions SET attention = 1 WHERE gid < 't-18' OR gid = 't-9'",
          )
          const saves = [first, last].map((row) => store.update(makeUpdate(row, { progress: 'new' })))
          await storeWaits()
          await other.query(`${LOCK}'t-18'`)
          await other.rollback()
          for (const save of saves) expect(await save).toMatchObject({ type: 'saved' })
          expect(store.counters().retries).toBeGreaterThanOrEqual(1)
          expect(await store.readMany([first.gid])).toMatchObject([{ progress: 'new', attention: false }])
        },
        { lockWaitTimeoutMs: 4_000 },
      ))

    it('A row that another transaction locks does not keep its neighbours from being written', () =>
      withOther(async (store, other) => {
        const transactions = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const updates = transactions.map((transaction) => makeUpdate(transaction, { progress: 'new' }))
        await other.beginTransaction()
        await other.query(`${LOCK}'b'`)
        const startedAt = performance.now()
        const saves = updates.map((update) => store.update(update))
        await new Promise(setImmediate)
        expect(await store.create(aTransaction('later'))).toMatchObject({ type: 'created' })
        expect(performance.now() - startedAt).toBeLessThan(900)
        expect(await saves[0]).toMatchObject({ type: 'saved' })
        await expectUnavailable(saves[1] ?? Promise.resolve(), 'no')
        expect(await saves[2]).toMatchObject({ type: 'saved' })
        await other.rollback()
        for (const update of updates) expect(await store.update(update)).toMatchObject({ type: 'saved' })
      }))

    it('A row that another transaction locks fails alone also where a statement may take less long than the lock', () =>
      withOther(
        async (store, other) => {
          const transactions = makeGids(20).map((gid) => aTransaction(gid))
          await Promise.all(transactions.map((transaction) => store.create(transaction)))
          await other.beginTransaction()
          await other.query(`${LOCK}'t-3'`)
          await Promise.all(
            transactions.map(async (transaction) => {
              const save = store.update(makeUpdate(transaction))
              if (transaction.gid === 't-3') await expectUnavailable(save, 'no')
              else expect(await save).toMatchObject({ type: 'saved' })
            }),
          )
          await other.rollback()
        },
        { statementTimeoutMs: 100 },
      ))

    it('Rows that are locked one after the other, for longer than a statement may take, do not fail', () =>
      withOther(
        async (store, other) => {
          const transactions = makeGids(20).map((gid) => aTransaction(gid))
          await Promise.all(transactions.map((transaction) => store.create(transaction)))
          const locked = ['t-11', 't-13', 't-15', 't-17', 't-19'].map((gid, i) =>
            lockedFor(gid, 800 * (i + 1)),
          )
          await Promise.all(locked.map(({ isLocked }) => isLocked))
          const startedAt = performance.now()
          const saves = await Promise.all(
            transactions.map((transaction) => store.update(makeUpdate(transaction))),
          )
          for (const save of saves) expect(save).toMatchObject({ type: 'saved' })
          expect(performance.now() - startedAt).toBeGreaterThan(3_000)
          await Promise.all(locked.map(({ isFree }) => isFree))
          await other.rollback()
        },
        { statementTimeoutMs: 3_000 },
      ))

    it('A table that is locked as a whole fails the writes that wait for it, soon and all at once', () =>
      withOther(
        async (store, other) => {
          await other.query('LOCK TABLES counterstep_transactions READ')
          const startedAt = performance.now()
          const transactions = makeGids(600).map((gid) => aTransaction(gid))
          const creates = transactions.map((transaction) => store.create(transaction))
          // The server goes on waiting with the COMMIT, which it has received.
          await Promise.all(creates.map((create) => expectUnavailable(create, 'unknown')))
          expect(performance.now() - startedAt).toBeLessThan(10_000)
          await other.query('UNLOCK TABLES')
          const again = await Promise.all(transactions.map((transaction) => store.create(transaction)))
          for (const created of again) expect(created).toMatchObject({ type: 'created' })
        },
        { statementTimeoutMs: 3_000 },
      ))

    it('A row that another transaction locks does not keep its neighbours from being renewed', () =>
      withOther(async (store, other) => {
        const transactions = makeGids(50).map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const leases = transactions.map(({ gid, token }) => ({ gid, token }))
        await other.beginTransaction()
        await other.query(`${LOCK}'t-25'`)
        await other.query(`${LOCK}'t-26'`)
        const foreign = leases.map((lease) =>
          lease.gid === 't-26' ? { gid: lease.gid, token: drawToken() } : lease,
        )
        const startedAt = performance.now()
        const { renewed, lost, now } = await store.renew(foreign, 60_000)
        expect(performance.now() - startedAt).toBeLessThan(2_000)
        expect(renewed).toHaveLength(48)
        expect(lost).toEqual(['t-26'])
        await other.rollback()
        const rows = await store.readMany(leases.map(({ gid }) => gid))
        const kept = rows.filter(({ dueAt }) => dueAt >= now + 60_000).map(({ gid }) => gid)
        expect(kept.sort()).toEqual(renewed.map(({ gid }) => gid).sort())
        const again = await store.renew(leases, 60_000)
        expect([again.renewed.length, again.lost]).toEqual([50, []])
      }))

    it('A create waits for one whose outcome is not known, and then gets its result', () =>
      withOther(
        async (store, other) => {
          const insert = `INSERT INTO counterstep_transactions SELECT NULL, 'copy', live, due_at, created_at, updated_at,
          version, epoch, format, claims, kind, status, owned, sent_list, retrying, attention, token, write_id, digest,
          progress, definition, name, tags, problem, attempts, marks FROM counterstep_transactions WHERE gid = 'a'`
          const transaction = aTransaction('copy')
          await store.create(aTransaction('a'))
          await other.beginTransaction()
          await other.query(insert)
          const create = store.create(transaction)
          await storeWaits()
          await other.commit()
          expect(await create).toMatchObject({ type: 'exists', digest: transaction.digest })
        },
        { lockWaitTimeoutMs: 4_000 },
      ))

    it('The locks of a node that has stopped in the middle of a flush end by themselves', () =>
      withOther(async (store) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const { url } = await databases.migrated(`contention-${places}`)
        const { session } = await openSession(toConnectionTarget(url, undefined, 2_000), FROZEN)
        await session.run(`${LOCK}'a'`)
        const startedAt = performance.now()
        const update = makeUpdate(transaction, { progress: 'new' })
        await expectUnavailable(store.update(update), 'no')
        await expect
          .poll(() => store.update(update).catch(() => undefined), { timeout: 20_000 })
          .toMatchObject({ type: 'saved' })
        expect(performance.now() - startedAt).toBeGreaterThan(5_000)
        await expect(session.run('COMMIT')).rejects.toMatchObject({ fault: 'lost' })
        expect(await store.readMany([transaction.gid])).toMatchObject([{ progress: 'new', attention: false }])
      }))

    it('A claim of due rows leaves locked rows alone and does not wait', () =>
      withOther(async (store, other) => {
        const due = { hold: { type: 'waiting', dueInMs: 0 } } as const
        for (const gid of ['a', 'b', 'c']) await store.create(aTransaction(gid, due))
        await other.beginTransaction()
        await other.query(`${LOCK}'a'`)
        const tokens = [drawToken(), drawToken(), drawToken()]
        const startedAt = performance.now()
        const { claimed } = await store.claimDue({ limit: 3, leaseMs: 10_000, tokens, formatMax: 1 })
        expect(performance.now() - startedAt).toBeLessThan(900)
        expect(claimed.map(({ gid }) => gid)).toEqual(['b', 'c'])
        await expectUnavailable(
          store.claim({ gid: asGid('a'), token: drawToken(), leaseMs: 1, formatMax: 1 }),
          'no',
        )
        await other.rollback()
      }))

    it('A postponement leaves locked rows alone and does not wait, and the former owner still writes its updates', () =>
      withOther(async (store, other) => {
        const owned = { hold: { type: 'owned', leaseMs: 1 } } as const
        const rows = ['a', 'b', 'c'].map((gid) => aTransaction(gid, owned))
        for (const row of rows) await store.create(row)
        await other.beginTransaction()
        await other.query(`${LOCK}'a'`)
        const startedAt = performance.now()
        const postponement = { limit: 3, byMs: 60_000, formatMax: 1 }
        const { gids } = await store.postponeDue(postponement)
        expect(performance.now() - startedAt).toBeLessThan(900)
        expect(gids).toEqual(['b', 'c'])
        await other.rollback()
        for (const row of rows) expect(await store.update(makeUpdate(row))).toMatchObject({ type: 'saved' })
        expect((await store.postponeDue(postponement)).gids).toEqual(['a'])
      }))
  })
}
