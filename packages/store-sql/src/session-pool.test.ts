import { StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { type PoolBounds, type PooledSession, SessionPool } from './session-pool.ts'
import { SqlError } from './sql-error.ts'

/** A connection that only counts. */
class CountedSession implements PooledSession {
  idleSince = performance.now()
  isBroken = false
  ends = 0

  end(): void {
    this.ends += 1
    this.isBroken = true
  }
}

const BOUNDS: PoolBounds = { sessionsMax: 2, waitersMax: 2, waitTimeoutMs: 10_000 }
/** The pool keeps no session that has been idle for longer than five seconds. */
const TOO_OLD_MS = 5_001

async function withPool(
  bounds: Partial<PoolBounds>,
  test: (pool: SessionPool<CountedSession>, opened: CountedSession[]) => Promise<void>,
  open = async () => new CountedSession(),
): Promise<void> {
  const opened: CountedSession[] = []
  const openCounted = async () => {
    const session = await open()
    opened.push(session)
    return session
  }
  const pool = new SessionPool(openCounted, { ...BOUNDS, ...bounds })
  await test(pool, opened)
  await pool.close()
  expect(opened.map(({ ends }) => ends > 0)).toEqual(opened.map(() => true))
}

async function expectRefused(call: Promise<unknown>): Promise<void> {
  const error: unknown = await call.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StoreUnavailableError)
  expect(error).toMatchObject({ applied: 'no' })
}

describe('the pool of connections', () => {
  it('The pool gives out the connection that was used last', () =>
    withPool({}, async (pool, opened) => {
      const [a, b] = [await pool.acquire(), await pool.acquire()]
      pool.release(b)
      pool.release(a)
      expect(await pool.acquire()).toBe(a)
      expect(await pool.acquire()).toBe(b)
      expect(opened).toHaveLength(2)
      pool.release(a)
      pool.release(b)
    }))

  it('The callers who wait are bounded in number', () =>
    withPool({}, async (pool) => {
      const sessions = [await pool.acquire(), await pool.acquire()]
      const waiters = [pool.acquire(), pool.acquire()]
      await expectRefused(pool.acquire())
      for (const session of sessions) pool.release(session)
      for (const waiter of waiters) pool.release(await waiter)
    }))

  it('The callers who wait are bounded in time, and the pool goes on without them', () =>
    withPool({ waitTimeoutMs: 20 }, async (pool) => {
      const sessions = [await pool.acquire(), await pool.acquire()]
      await Promise.all([pool.acquire(), pool.acquire()].map(expectRefused))
      for (const session of sessions) pool.release(session)
      pool.release(await pool.acquire())
    }))

  it('The pool serves waiting callers in their order, and opens a new connection for a broken one', () =>
    withPool({ sessionsMax: 1 }, async (pool, opened) => {
      const first = await pool.acquire()
      const order: number[] = []
      const waiters = [0, 1].map((i) =>
        pool.acquire().then((session) => {
          order.push(i)
          return session
        }),
      )
      first.isBroken = true
      pool.release(first)
      const second = await waiters[0]
      expect(second).not.toBe(first)
      expect([first.ends, opened.length]).toEqual([1, 2])
      if (second !== undefined) pool.release(second)
      expect(await waiters[1]).toBe(second)
      expect(order).toEqual([0, 1])
      if (second !== undefined) pool.release(second)
    }))

  it('An idle connection that has broken or grown old is not given out', () =>
    withPool({}, async (pool, opened) => {
      const [a, b] = [await pool.acquire(), await pool.acquire()]
      pool.release(a)
      pool.release(b)
      a.idleSince -= TOO_OLD_MS
      b.isBroken = true
      const fresh = await pool.acquire()
      expect([a, b]).not.toContain(fresh)
      expect([a.ends, b.ends, opened.length]).toEqual([1, 1, 3])
      pool.release(fresh)
    }))

  it('The pool ends its idle connections after a sign that the server has gone, and keeps those in use', () =>
    withPool({}, async (pool) => {
      const [a, b] = [await pool.acquire(), await pool.acquire()]
      pool.release(a)
      pool.discardIdle()
      expect([a.ends, b.ends]).toEqual([1, 0])
      pool.release(b)
    }))

  it('The pool closes when the last connection in use has come back, and gives out none from then on', () =>
    withPool({}, async (pool) => {
      const session = await pool.acquire()
      let isClosed = false
      const closing = pool.close().then(() => {
        isClosed = true
      })
      await expectRefused(pool.acquire())
      await new Promise(setImmediate)
      expect([isClosed, session.ends]).toEqual([false, 0])
      pool.release(session)
      await closing
      expect(session.ends).toBe(1)
    }))

  it('The callers who wait are refused when the pool closes', () =>
    withPool({ sessionsMax: 1 }, async (pool) => {
      const session = await pool.acquire()
      const waiter = expectRefused(pool.acquire())
      const closing = pool.close()
      await waiter
      pool.release(session)
      await closing
    }))
})

describe('a server that takes no further connection', () => {
  /** Opens so many connections, and then none. */
  function openAtMost(limit: number) {
    let sessions = 0
    return async () => {
      sessions += 1
      if (sessions > limit) throw new SqlError('crowded', 'too many connections')
      return new CountedSession()
    }
  }

  it('A caller waits for a connection that is in use', () =>
    withPool(
      {},
      async (pool, opened) => {
        const first = await pool.acquire()
        const second = pool.acquire()
        await new Promise(setImmediate)
        pool.release(first)
        expect(await second).toBe(first)
        expect(opened).toHaveLength(1)
        pool.release(first)
      },
      openAtMost(1),
    ))

  it('A caller is told if there is no connection at all', () =>
    withPool(
      {},
      async (pool) => {
        await expect(pool.acquire()).rejects.toMatchObject({ fault: 'crowded' })
        await expect(pool.acquire()).rejects.toMatchObject({ fault: 'crowded' })
      },
      openAtMost(0),
    ))

  it('A connection that cannot be opened leaves its place to the next caller', () => {
    let fails = true
    return withPool(
      { sessionsMax: 1 },
      async (pool) => {
        await expect(pool.acquire()).rejects.toMatchObject({ fault: 'unavailable' })
        fails = false
        pool.release(await pool.acquire())
      },
      async () => {
        if (fails) throw new SqlError('unavailable', 'refused')
        return new CountedSession()
      },
    )
  })
})
