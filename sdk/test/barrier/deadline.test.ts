import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { borrow, startDeadline, within } from '../../src/barrier/deadline.ts'
import { mysqlBarrier } from '../../src/barrier/mysql.ts'
import { postgresBarrier } from '../../src/barrier/postgres.ts'

describe('timeoutMs', () => {
  // Neither connects before it is asked for a connection.
  const mysql = createPool({})
  const postgres = new Pool()
  afterAll(() => Promise.all([mysql.end(), postgres.end()]))

  for (const timeoutMs of [0, -1, 1.5, Number.NaN, 900_001, Number.POSITIVE_INFINITY]) {
    it(`The setting timeoutMs may not be ${timeoutMs}`, () => {
      expect(() => mysqlBarrier(mysql, { timeoutMs })).toThrow(/timeoutMs must be a whole number/)
      expect(() => postgresBarrier(postgres, { timeoutMs })).toThrow(TypeError)
    })
  }

  it('The setting timeoutMs may be from 1 ms to the longest wait of an orchestrator', () => {
    for (const timeoutMs of [1, 900_000]) {
      expect(mysqlBarrier(mysql, { timeoutMs })).toBeDefined()
      expect(postgresBarrier(postgres, { timeoutMs })).toBeDefined()
    }
  })
})

describe('the time of a call', () => {
  const never = () => new Promise<never>(() => undefined)
  const spend = () => {
    const end = performance.now() + 20
    while (performance.now() < end);
    return never()
  }
  for (const [title, call] of [
    ['work that has used it up before it returns', () => within(startDeadline(5), spend)],
    ['a pool that has used it up before it returns', () => borrow(startDeadline(5), spend)],
  ] as const) {
    it(`A timer is never given a negative time, also for ${title}`, async () => {
      const timers = vi.spyOn(globalThis, 'setTimeout')
      onTestFinished(() => timers.mockRestore())
      await expect(call()).rejects.toMatchObject({ code: 'BARRIER_TIMED_OUT' })
      // Other code of the process, such as the test runner, may set timers meanwhile.
      const times = timers.mock.calls.map(([, ms]) => ms)
      expect(times).toContain(0)
      expect(times.filter((ms) => Number(ms) < 0)).toEqual([])
    })
  }
})
