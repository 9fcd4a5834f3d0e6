import { type PoolBounds, SessionPool } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import type { Session } from '../src/sessions/session.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { testDatabases } from './test-database.ts'

const settings = {
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 2_000,
  lockWaitTimeoutMs: 1_000,
  autocommit: true,
}

describeOn('mariadb', 'the pool of connections', (serverUrl) => {
  const databases = testDatabases(serverUrl)

  async function withPool(bounds: Partial<PoolBounds>, test: (pool: SessionPool<Session>) => Promise<void>) {
    const target = toConnectionTarget((await databases.empty('pool')).rootUrl, undefined, 2_000)
    const open = async () => (await openSession(target, settings)).session
    const pool = new SessionPool(open, { sessionsMax: 2, waitersMax: 2, waitTimeoutMs: 2_000, ...bounds })
    await test(pool)
    await pool.close()
  }

  it('The pool gives out the connection that was used last', () =>
    withPool({}, async (pool) => {
      const [a, b] = [await pool.acquire(), await pool.acquire()]
      pool.release(b)
      pool.release(a)
      expect(await pool.acquire()).toBe(a)
      expect(await pool.acquire()).toBe(b)
      pool.release(a)
      pool.release(b)
    }))

  it('The callers who wait are bounded, in number and in time', () =>
    withPool({ waitTimeoutMs: 100 }, async (pool) => {
      const sessions = [await pool.acquire(), await pool.acquire()]
      const waiters = [pool.acquire(), pool.acquire()]
      await expectUnavailable(pool.acquire(), 'no')
      await Promise.all(waiters.map((waiter) => expectUnavailable(waiter, 'no')))
      for (const session of sessions) pool.release(session)
      pool.release(await pool.acquire())
    }))

  it('The pool serves waiting callers in their order, and opens a new connection for a broken one', () =>
    withPool({ sessionsMax: 1 }, async (pool) => {
      const first = await pool.acquire()
      const order: number[] = []
      const waiters = [0, 1].map((i) =>
        pool.acquire().then((session) => {
          order.push(i)
          return session
        }),
      )
      first.destroy()
      pool.release(first)
      const second = await waiters[0]
      expect(second).not.toBe(first)
      expect(await second?.all('SELECT 1')).toEqual([[1]])
      if (second !== undefined) pool.release(second)
      expect(await waiters[1]).toBe(second)
      expect(order).toEqual([0, 1])
      if (second !== undefined) pool.release(second)
    }))

  it('The pool closes when the last connection in use has come back, and gives out none from then on', () =>
    withPool({}, async (pool) => {
      const session = await pool.acquire()
      let isClosed = false
      const closing = pool.close().then(() => {
        isClosed = true
      })
      await expectUnavailable(pool.acquire(), 'no')
      expect(isClosed).toBe(false)
      expect(await session.all('SELECT 1')).toEqual([[1]])
      pool.release(session)
      await closing
      expect(session.isBroken).toBe(true)
    }))

  it('A connection on which the set-up has failed is not given out', async () => {
    const { rootUrl, name } = await databases.empty('pool')
    await databases.sql(`CREATE USER IF NOT EXISTS '${name}'@'%'`)
    const url = new URL(rootUrl)
    url.username = name
    // The user has no right to this database.
    await expect(openSession(toConnectionTarget(url.href, undefined, 2_000), settings)).rejects.toMatchObject(
      {
        fault: 'unavailable',
      },
    )
    await databases.sql(`DROP USER '${name}'@'%'`)
  })
})
