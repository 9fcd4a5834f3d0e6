import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeGids } from './transactions.ts'

const SETTINGS = { ...toSessionTimeouts({}), multiplexed: false }
/** The pool ends a session that was idle for five seconds, and looks every two and a half. */
const IDLE_ENDED_MS = 15_000

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'sessions', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    async function countSessions(user: string): Promise<number> {
      const rows = await databases.sql(`SELECT count(*) FROM pg_stat_activity WHERE usename = '${user}'`)
      return Number(rows[0]?.[0])
    }

    it('A store has no more sessions than it may, and ends those that are idle', {
      timeout: 60_000,
    }, async () => {
      const { url, name } = await databases.migrated('idle')
      const options = { connectionsMax: 4, flushesInFlightMax: 8, flushPatienceMs: 0, batchRowsMax: 5 }
      const store = await openPostgresStore({ url, ...options })
      const creates = makeGids(200).map((gid) => store.create(aTransaction(gid)))
      const reads = Array.from({ length: 50 }, () => store.stats())
      let sessionsMax = 0
      let isDone = false
      const done = Promise.all([...creates, ...reads]).then(() => {
        isDone = true
      })
      while (!isDone) sessionsMax = Math.max(sessionsMax, await countSessions(name))
      await done
      expect(sessionsMax).toBeLessThanOrEqual(4)
      expect(await countSessions(name)).toBeGreaterThan(0)
      await expect.poll(() => countSessions(name), { timeout: IDLE_ENDED_MS }).toBe(0)
      expect(await store.create(aTransaction('later'))).toMatchObject({ type: 'created' })
      await store.close()
      await expect.poll(() => countSessions(name)).toBe(0)
    })

    it('A store whose user may have few sessions works with those that it gets', async () => {
      const { url, name } = await databases.migrated('few')
      await databases.sql(`ALTER ROLE ${name} CONNECTION LIMIT 2`)
      const store = await openPostgresStore({ url, batchRowsMax: 5, flushPatienceMs: 0 })
      const created = await Promise.all(makeGids(50).map((gid) => store.create(aTransaction(gid))))
      expect(new Set(created.map(({ type }) => type))).toEqual(new Set(['created']))
      await store.close()
      await expect.poll(() => countSessions(name)).toBe(0)
      await databases.sql(`ALTER ROLE ${name} CONNECTION LIMIT 0`)
      await expectUnavailable(openPostgresStore({ url }), 'no')
    })

    it('S23: A session takes one statement at a time when it has values, and the store sends no value in a text', async () => {
      const { url } = await databases.migrated('one')
      const { session } = await openSession(toConnectionTarget(url, 'off'), SETTINGS)
      await expect(session.all({ sql: 'SELECT $1::int; SELECT 2', values: [1] })).rejects.toMatchObject({
        code: '42601',
      })
      session.destroy()
    })

    it('A session says which program it belongs to, and waits as long as the store asks', async () => {
      const { url } = await databases.migrated('settings')
      const timeouts = toSessionTimeouts({ statementTimeoutMs: 9_000, lockWaitTimeoutMs: 4_000 })
      const { session } = await openSession(toConnectionTarget(url, 'off'), {
        ...timeouts,
        multiplexed: false,
      })
      const names = ['application_name', 'statement_timeout', 'lock_timeout', 'default_transaction_isolation']
      const rows = await session.all({ sql: `SELECT ${names.map((name) => `current_setting('${name}')`)}` })
      // The server ends a statement before the store gives up on it.
      expect(rows).toEqual([['counterstep', '8s', '4s', 'read committed']])
      session.end()
    })

    it('A session keeps to READ COMMITTED also where the database has another default', async () => {
      const { url, name } = await databases.migrated('isolation')
      await databases.sql(`ALTER ROLE ${name} SET default_transaction_isolation = 'serializable'`)
      const store = await openPostgresStore({ url })
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.close()
      // A pooler takes no settings, so there the default of the user counts, and is refused.
      await expect(openPostgresStore({ url, multiplexed: true })).rejects.toThrow('serializable')
    })

    it('A session hears the warnings of the server also where its user asks for none', async () => {
      const { url, name } = await databases.migrated('deaf')
      await databases.sql(`ALTER ROLE ${name} SET client_min_messages = 'error'`)
      const { session, server: facts } = await openSession(toConnectionTarget(url, 'off'), SETTINGS)
      expect(facts.messagesMin).toBe('warning')
      session.end()
      await expect(openPostgresStore({ url, multiplexed: true })).rejects.toThrow('client_min_messages')
    })

    it('A statement that takes too long is ended by the server, and nothing of it is left', async () => {
      const { url } = await databases.migrated('slow')
      const timeouts = { ...toSessionTimeouts({}), statementTimeoutMs: 2_000 }
      const { session } = await openSession(toConnectionTarget(url, 'off'), {
        ...timeouts,
        multiplexed: false,
      })
      await expect(session.all({ sql: 'SELECT pg_sleep(600)' })).rejects.toMatchObject({
        ...{ fault: 'stall', code: '57014' },
      })
      expect(session.isBroken).toBe(false)
      expect(await session.all({ sql: 'SELECT 1' })).toEqual([[1]])
      session.end()
    })
  })
}
