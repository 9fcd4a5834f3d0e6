import { describe, expect, it } from 'vitest'
import { toSessionTimeouts } from './session-timeouts.ts'

describe('the wait for a lock and the wait for its statement', () => {
  const table = [
    // Each row has: the wished statement and lock, then the resulting statement and lock.
    [undefined, undefined, 5_000, 2_000],
    [4_000, undefined, 4_000, 2_000],
    [3_999, undefined, 3_999, 1_000],
    [3_000, undefined, 3_000, 1_000],
    [100, undefined, 3_000, 1_000],
    [600_000, undefined, 600_000, 2_000],
    [6_000, 4_000, 6_000, 4_000],
    [5_000, 4_500, 7_000, 5_000],
    [1_000, 10_000, 12_000, 10_000],
    [undefined, 1, 5_000, 1_000],
  ] as const
  for (const [statement, lock, givenStatement, givenLock] of table) {
    it(`The waits for a statement and a lock are ${givenStatement} and ${givenLock} ms when ${statement} and ${lock} are asked for`, () => {
      const asked = {
        ...(statement !== undefined && { statementTimeoutMs: statement }),
        ...(lock !== undefined && { lockWaitTimeoutMs: lock }),
      }
      expect(toSessionTimeouts(asked)).toEqual({
        connectTimeoutMs: 2_000,
        statementTimeoutMs: givenStatement,
        lockWaitTimeoutMs: givenLock,
      })
    })
  }
})
