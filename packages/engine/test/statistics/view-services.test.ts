import { describe, expect, it } from 'vitest'
import { findWorstServices, viewServices } from '../../src/statistics/view-services.ts'
import { buildPart, buildSums, MINUTE } from './support.ts'

describe('the services', () => {
  it('The figures of all nodes are added, and those of a node that is gone count only for the past', () => {
    const one = buildSums({
      services: [buildPart({ key: 'bank', counts: [300, 0, 0, 0], durationMs: 4 })],
      loads: [{ service: 'bank', inFlight: 5, queued: 1 }],
    })
    const two = buildSums({
      services: [buildPart({ key: 'bank', counts: [0, 30, 0, 270], durationMs: 1_024 })],
      shortSeconds: 100,
      loads: [{ service: 'bank', inFlight: 2, queued: 0 }],
    })
    const gone = buildSums({ services: [buildPart({ key: 'bank', counts: [100, 0, 0, 0] })] })
    const nodes = [
      { sums: one, isGone: false },
      { sums: two, isGone: false },
      { sums: gone, isGone: true },
    ]
    const [bank] = viewServices(nodes, [], MINUTE)
    expect(bank).toMatchObject({
      service: 'bank',
      callsPerSecond: 4,
      outcomes: { success: 300, failure: 30, ongoing: 0, unknown: 270 },
      latency: { count: 600, p50Ms: 4 },
      connections: 7,
      queued: 1,
      looksDown: false,
      ops: [
        {
          op: 'action',
          minutes: [{ at: MINUTE * 60_000, success: 400, failure: 30, ongoing: 0, unknown: 270 }],
          latency: { count: 700 },
        },
      ],
    })
    const [worst] = findWorstServices(nodes)
    expect(worst).toMatchObject({ service: 'bank', calls: 700, unknown: 270 })
    // The bounds of a bucket are half an octave apart.
    expect(worst?.p95Ms).toBeGreaterThan(700)
    expect(worst?.p95Ms).toBeLessThan(1_500)
  })

  it('The worst services are three without answers, and then the slowest', () => {
    const services = [
      ...[10, 40, 20, 30].map((unknown) =>
        buildPart({ key: `silent-${unknown}`, counts: [50, 0, 0, unknown], durationMs: 2 }),
      ),
      ...[16, 4_096, 256].map((durationMs) =>
        buildPart({ key: `slow-${durationMs}`, counts: [50, 0, 0, 0], durationMs }),
      ),
    ]
    const worst = findWorstServices([{ sums: buildSums({ services }), isGone: false }])
    const names = worst.map(({ service }) => service)
    expect(names).toEqual(['silent-40', 'silent-30', 'silent-20', 'slow-4096', 'slow-256'])
  })

  it('What waits for a service is read from the problems, also where it was not called here', () => {
    const problems = [
      { problem: 'bank compensate 500', waiting: 128, attention: 120 },
      { problem: 'bank action timeout', waiting: 9, attention: 0 },
      { problem: 'ledger.example:8443 action refused', waiting: 2, attention: 1 },
      { problem: '– record-unreadable', waiting: 1, attention: 1 },
      { problem: 'other', waiting: 40, attention: 4 },
    ]
    const views = viewServices([{ sums: buildSums(), isGone: false }], problems, MINUTE)
    expect(views.map(({ service, waiting, attention }) => ({ service, waiting, attention }))).toEqual([
      { service: 'bank', waiting: 137, attention: 120 },
      { service: 'ledger.example:8443', waiting: 2, attention: 1 },
    ])
  })

  it.each([
    ['20 calls and no answer', [0, 0, 0, 20], MINUTE, true],
    ['19 calls and no answer', [0, 0, 0, 19], MINUTE, false],
    ['nine of ten without an answer', [10, 0, 0, 90], MINUTE, true],
    ['a little less than nine of ten', [6, 3, 2, 89], MINUTE, false],
    ['no answer in the minute before', [0, 0, 0, 20], MINUTE - 1, true],
    ['no answer two minutes ago', [0, 0, 0, 20], MINUTE - 2, false],
  ] as const)('A service looks down: %s', (_what, [success, failure, ongoing, unknown], minute, isDown) => {
    const part = buildPart({ key: 'bank', counts: [success, failure, ongoing, unknown], minute })
    const views = viewServices([{ sums: buildSums({ services: [part] }), isGone: false }], [], MINUTE)
    expect(views[0]?.looksDown).toBe(isDown)
  })

  it('A service that has come back does not look down, though the minute before was bad', () => {
    const bad = buildPart({ key: 'bank', counts: [0, 0, 0, 500], minute: MINUTE - 1 })
    const good = buildPart({ key: 'bank', counts: [20, 0, 0, 0], part: 'compensate' })
    const views = viewServices([{ sums: buildSums({ services: [bad, good] }), isGone: false }], [], MINUTE)
    expect(views[0]?.looksDown).toBe(false)
  })
})
