import { describeOn } from '@counterstep/test-servers/vitest'
import mysql, { type Connection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { connectionTarget } from '../src/connection-target.ts'
import type { MysqlStore } from '../src/mysql-store.ts'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { openSession } from '../src/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, drawToken, gidsOf, updateOf } from './transactions.ts'

const FROZEN = {
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 2_000,
  lockWaitTimeoutMs: 1_000,
  autocommit: false,
}

/** Takes the row's lock and keeps it until the end of its database transaction. */
const LOCK = 'UPDATE counterstep_transactions SET attention = 1 - attention WHERE gid = '

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'row locks of others', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let places = 0

    /** A store, and another who locks its rows. */
    async function withOther(
      test: (store: MysqlStore, other: Connection) => Promise<void>,
      lockWaitTimeoutMs = 1_000,
    ) {
      places += 1
      const { url, rootUrl } = await databases.migrated(`contention-${places}`)
      const store = await openMysqlStore({ url, lockWaitTimeoutMs })
      const other = await mysql.createConnection({ uri: rootUrl })
      await other.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
      try {
        await test(store, other)
      } finally {
        other.destroy()
        await store.close()
      }
    }

    async function storeWaits(): Promise<void> {
      const waiting = `SELECT COUNT(*) FROM information_schema.INNODB_TRX
        JOIN information_schema.PROCESSLIST ON ID = trx_mysql_thread_id
        WHERE trx_state = 'LOCK WAIT' AND DB = '${(await databases.migrated(`contention-${places}`)).name}'`
      // The server answers from a copy that it renews only when nobody has asked for 100 ms.
      const options = { timeout: 3_500, interval: 250 }
      await expect.poll(async () => (await databases.sql(waiting))[0]?.[0], options).toBe(1)
    }

    it('a deadlock is repeated whole and nobody hears of it', () =>
      withOther(async (store, other) => {
        const transactions = gidsOf(20).map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const [first, last] = ['t-18', 't-9'].map((gid) => transactions.find((row) => row.gid === gid))
        if (first === undefined || last === undefined) throw new Error('no rows')
        await other.beginTransaction()
        // The one that has changed more rows survives, so the store is the one that is rolled back.
        await other.query(
          "UPDATE counterstep_transactions SET attention = 1 WHERE gid < 't-18' OR gid = 't-9'",
        )
        const saves = [first, last].map((row) => store.update(updateOf(row, { progress: 'new' })))
        await storeWaits()
        await other.query(`${LOCK}'t-18'`)
        await other.rollback()
        for (const save of saves) expect(await save).toMatchObject({ type: 'saved' })
        expect(store.counters().retries).toBeGreaterThanOrEqual(1)
        expect(await store.readMany([first.gid])).toMatchObject([{ progress: 'new', attention: false }])
      }, 4_000))

    it('a row that another holds locked does not keep its neighbours from being written', () =>
      withOther(async (store, other) => {
        const transactions = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
        await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const updates = transactions.map((transaction) => updateOf(transaction, { progress: 'new' }))
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

    it('a create waits for one whose outcome is not known, and then is told', () =>
      withOther(async (store, other) => {
        const insert = `INSERT INTO counterstep_transactions SELECT NULL, 'copy', live, due_at, created_at, updated_at,
          version, epoch, format, claims, kind, status, owned, sent_list, retrying, attention, token, write_id, digest,
          progress, definition FROM counterstep_transactions WHERE gid = 'a'`
        const transaction = aTransaction('copy')
        await store.create(aTransaction('a'))
        await other.beginTransaction()
        await other.query(insert)
        const create = store.create(transaction)
        await storeWaits()
        await other.commit()
        expect(await create).toMatchObject({ type: 'exists', digest: transaction.digest })
      }, 4_000))

    it('the locks of a node that has stopped in the middle of a flush end by themselves', () =>
      withOther(async (store) => {
        const transaction = aTransaction('a')
        await store.create(transaction)
        const { url } = await databases.migrated(`contention-${places}`)
        const { session } = await openSession(connectionTarget(url, undefined, 2_000), FROZEN)
        await session.run(`${LOCK}'a'`)
        const startedAt = performance.now()
        const update = updateOf(transaction, { progress: 'new' })
        await expectUnavailable(store.update(update), 'no')
        await expect
          .poll(() => store.update(update).catch(() => undefined), { timeout: 20_000 })
          .toMatchObject({ type: 'saved' })
        expect(performance.now() - startedAt).toBeGreaterThan(5_000)
        await expect(session.run('COMMIT')).rejects.toMatchObject({ fault: 'lost' })
        expect(await store.readMany([transaction.gid])).toMatchObject([{ progress: 'new', attention: false }])
      }))

    it('a claim of what is due leaves locked rows alone and waits for nobody', () =>
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
  })
}
