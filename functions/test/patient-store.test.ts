import { type Clock, StoreUnavailableError } from '@counterstep/core'
import { memoryStore, storeConformance } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callPatiently, makePatient, PATIENCE_MS } from '../src/patient-store.ts'

/** Time passes on this clock only while a caller waits. */
function waitingClock(): Clock {
  let now = 0
  return {
    now: () => now,
    after(delayMs, callback) {
      now += delayMs
      queueMicrotask(callback)
      return () => undefined
    },
  }
}

storeConformance({
  runner: { describe, it, before: beforeAll, after: afterAll },
  name: 'memory, patient',
  open: async ({ now }) => makePatient(memoryStore({ now }), waitingClock()),
})

const unavailable = (applied: 'no' | 'unknown') =>
  new StoreUnavailableError('the connection has ended', { applied })

describe('a call to a store after a freeze', () => {
  it('A call to a store after a freeze is made again while the store proves that nothing was done', async () => {
    let calls = 0
    const answer = await callPatiently(waitingClock(), async () => {
      calls++
      if (calls < 4) throw unavailable('no')
      return 'done'
    })
    expect([answer, calls]).toEqual(['done', 4])
  })

  it('A call to a store after a freeze is not made again when it may have been done, and when it is a bug', async () => {
    for (const error of [unavailable('unknown'), new Error('a bug')]) {
      let calls = 0
      const call = callPatiently(waitingClock(), async () => {
        calls++
        throw error
      })
      await expect(call).rejects.toBe(error)
      expect(calls).toBe(1)
    }
  })

  it('A call to a store after a freeze fails when the time is over', async () => {
    const clock = waitingClock()
    const call = callPatiently(clock, () => Promise.reject(unavailable('no')))
    await expect(call).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(clock.now()).toBeGreaterThanOrEqual(PATIENCE_MS)
    expect(clock.now()).toBeLessThan(2 * PATIENCE_MS)
  })
})
