import type { RetryPolicy } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { table } from '../../test/table.ts'
import { backoffMs, RETRY_BOUNDS, retryFloorMs, SLOW_AFTER_WAITS, SLOW_FLOOR_MS } from './backoff.ts'

const POLICY: RetryPolicy = { initialMs: 200, factor: 2, capMs: 60_000, jitter: 1, limit: null }

const policies = fc
  .record({
    initialMs: fc.integer({ min: 1, max: 86_400_000 }),
    above: fc.integer({ min: 0, max: 86_400_000 }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ initialMs, above, factor, jitter }): RetryPolicy => {
    return { initialMs, capMs: Math.min(initialMs + above, 86_400_000), factor, jitter, limit: null }
  })
const counts = fc.integer({ min: 1, max: 5_000 })
const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the wait', () => {
  for (const { title, cells } of table`
    policy                        failures  jitter   retry-after  → wait
    200 × 2 ≤ 60000, jitter 1     1         0        -            → 200
    200 × 2 ≤ 60000, jitter 1     1         0.999    -            → 200
    200 × 2 ≤ 60000, jitter 1     2         0        -            → 400
    200 × 2 ≤ 60000, jitter 1     2         0.5      -            → 300
    200 × 2 ≤ 60000, jitter 1     3         0        -            → 800
    200 × 2 ≤ 60000, jitter 1     3         0.9999   -            → 201
    200 × 2 ≤ 60000, jitter 0     3         0.9999   -            → 800
    200 × 2 ≤ 60000, jitter 0.5   3         0.5      -            → 650
    200 × 2 ≤ 60000, jitter 1     4         0        -            → 1600
    200 × 2 ≤ 60000, jitter 1     5         0.9999   -            → 1001
    200 × 2 ≤ 60000, jitter 1     9         0        -            → 51200
    200 × 2 ≤ 60000, jitter 1     10        0        -            → 60000
    200 × 2 ≤ 60000, jitter 1     100000    0        -            → 60000
    10 × 1 ≤ 10, jitter 1         4         0.5      -            → 10
    10 × 1 ≤ 10, jitter 1         5         0.5      -            → 1000
    10 × 1 ≤ 10, jitter 0         500       0        -            → 1000
    3 × 1.5 ≤ 100, jitter 0       2         0        -            → 5
    200 × 2 ≤ 60000, jitter 1     1         0        5000         → 5000
    200 × 2 ≤ 60000, jitter 1     1         0        60000        → 60000
    200 × 2 ≤ 60000, jitter 1     1         0        60001        → 60000
    200 × 2 ≤ 60000, jitter 1     1         0        1e12         → 60000
    200 × 2 ≤ 60000, jitter 1     8         0        1            → 25600
  `) {
    it(`is right: ${title}`, () => {
      const [initialMs = 0, factor = 0, capMs = 0, jitter = 0] = (cells.policy ?? '')
        .split(/[^\d.]+/)
        .map(Number)
      const { failures, jitter: jitter01, 'retry-after': retryAfter, wait } = cells
      const policy: RetryPolicy = { initialMs, factor, capMs, jitter, limit: null }
      const retryAfterMs = retryAfter === '-' ? [] : [Number(retryAfter)]
      expect(backoffMs(policy, Number(failures), Number(jitter01), ...retryAfterMs)).toBe(Number(wait))
    })
  }

  it('The wait is a whole number between the first wait and the cap', () => {
    fc.assert(
      fc.property(policies, counts, draws, (policy, failures, jitter01) => {
        const wait = backoffMs(policy, failures, jitter01)
        const slowFloorMs = failures >= SLOW_AFTER_WAITS ? SLOW_FLOOR_MS : 0
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(Math.max(policy.initialMs, slowFloorMs))
        expect(wait).toBeLessThanOrEqual(Math.max(policy.capMs, slowFloorMs))
      }),
    )
  })

  it('The wait is at least a second after five waits, whatever the policy', () => {
    expect([SLOW_AFTER_WAITS, SLOW_FLOOR_MS]).toEqual([5, 1_000])
    fc.assert(
      fc.property(policies, fc.integer({ min: 5, max: 5_000 }), draws, (policy, failures, jitter01) => {
        expect(backoffMs(policy, failures, jitter01)).toBeGreaterThanOrEqual(1_000)
      }),
    )
  })

  it('The wait is as long as the branch asks for, up to the cap, and never shorter because of it', () => {
    fc.assert(
      fc.property(policies, counts, draws, fc.nat(), (policy, failures, jitter01, retryAfterMs) => {
        const own = backoffMs(policy, failures, jitter01)
        expect(backoffMs(policy, failures, jitter01, retryAfterMs)).toBe(
          Math.max(own, Math.min(retryAfterMs, policy.capMs)),
        )
      }),
    )
  })

  it('The ceiling of the wait never falls from one wait to the next', () => {
    fc.assert(
      fc.property(policies, counts, (policy, failures) => {
        expect(backoffMs(policy, failures + 1, 0)).toBeGreaterThanOrEqual(backoffMs(policy, failures, 0))
      }),
    )
  })

  it('The jitter spreads the retries after an outage between the floor of a second and the ceiling', () => {
    const waits = [0, 0.25, 0.5, 0.75].map((jitter01) => backoffMs(POLICY, 9, jitter01))
    expect(waits).toEqual([51_200, 38_650, 26_100, 13_550])
  })
})

describe('S40: the floor of the wait', () => {
  for (const { title, cells } of table`
    failures  waits  floor   → least wait
    1         1      1000    → 0
    4         4      1000    → 0
    5         5      1000    → 1000
    0         5      1000    → 1000
    9         9      1000    → 1000
    10        10     1000    → 2000
    15        15     1000    → 4000
    35        35     1000    → 60000
    5000      5000   1000    → 60000
    0         5000   1000    → 1000
    10        10     30000   → 60000
    4         4      30000   → 0
  `) {
    it(`is right: ${title}`, () => {
      const bounds = { ...RETRY_BOUNDS, floorMs: Number(cells.floor) }
      expect(retryFloorMs(Number(cells.failures), Number(cells.waits), bounds)).toBe(
        Number(cells['least wait']),
      )
    })
  }

  const HUNDRED = 100
  /** The calls of one branch in a day, under the most impatient policy that a request may have. */
  function countCallsInADay(findFloor: (failures: number) => number): number {
    const impatient: RetryPolicy = { initialMs: 1, factor: 1, capMs: 1, jitter: 1, limit: null }
    let calls = 1
    for (let now = 0; now < 24 * 3_600_000; calls++)
      now += backoffMs(impatient, calls, 0.999, 0, findFloor(calls))
    return calls
  }

  it('keeps 100 branches of one small submit under two calls a second at whomever they name', () => {
    const perSecond =
      (HUNDRED * countCallsInADay((failures) => retryFloorMs(failures, failures, RETRY_BOUNDS))) / 86_400
    expect(perSecond).toBeLessThan(2)
  })

  it('S40: mutant: a floor that does not grow lets them make a hundred calls a second for ever', () => {
    const perSecond =
      (HUNDRED * countCallsInADay((failures) => (failures < SLOW_AFTER_WAITS ? 0 : SLOW_FLOOR_MS))) / 86_400
    expect(perSecond).toBeGreaterThan(99)
  })
})
