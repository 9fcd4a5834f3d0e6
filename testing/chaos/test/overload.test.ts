import { describe, expect, it } from 'vitest'
import { type OverloadReport, runOverload } from '../src/overload/run-overload.ts'

/** This makes 100 sagas a second: the branches' time bounds them, and not a processor that is shared. */
const CALLS_IN_FLIGHT_MAX = 10
const GOODPUT_SHARE_MIN = 0.5
/** The run on demand allows 50 ms at p99; here half of them are measured, with room for a processor that is shared. */
const REFUSED_P50_MS_MAX = 1_000
const GROWTH_BYTES_MAX = 256 * 1024 * 1024
const SETTLED_MS_MAX = 5_000
const RUN_MS_MAX = 240_000

describe('five times the capacity', () => {
  let report: OverloadReport

  it('Five times the capacity is refused at once but for what can be done', {
    timeout: RUN_MS_MAX,
  }, async () => {
    report = await runOverload({
      callsInFlightMax: CALLS_IN_FLIGHT_MAX,
      calmSeconds: 2,
      overloadSeconds: 5,
      afterSeconds: 5,
    })
    const { overload, capacityPerSecond } = report
    expect(overload.goodputPerSecond).toBeGreaterThanOrEqual(GOODPUT_SHARE_MIN * capacityPerSecond)
    expect(overload.refused).toBeGreaterThan(overload.offered / 2)
    expect(overload.withoutRetryAfter).toBe(0)
    expect(overload.refusedP50Ms).toBeLessThanOrEqual(REFUSED_P50_MS_MAX)
  })

  it('An overload loses nothing that was accepted, and nothing runs that was refused', () => {
    expect(report.audit).toMatchObject({ lost: 0, refusedThatRan: 0, unfinishedWork: 0 })
    expect(report.audit.accepted).toBeGreaterThan(0)
  })

  it('The server settles soon after an overload, and its memory has not grown over the bound', () => {
    expect(report.settledAfterMs).toBeLessThanOrEqual(SETTLED_MS_MAX)
    expect(report.growthBytes ?? 0).toBeLessThanOrEqual(GROWTH_BYTES_MAX)
  })
})
