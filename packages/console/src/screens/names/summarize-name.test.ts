import { expect, it } from 'vitest'
import { summarizeName } from './summarize-name.ts'

const minute = { at: 0, accepted: 60, succeeded: 50, failed: 9, stopped: 1 }
const item = {
  name: 'transfer',
  minutes: [minute, minute],
  latency: { count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 },
}

for (const [sinceMs, perSecond] of [
  [1_000, 2],
  [120_000, 1],
  [10 * 3_600_000, 120 / 3_600],
] as const) {
  it(`A memory of ${sinceMs} ms tells a rate of the time that it covers`, () => {
    expect(summarizeName(item, 1_000_000_000, 1_000_000_000 - sinceMs)).toEqual({
      accepted: 120,
      succeeded: 100,
      failed: 18,
      stopped: 2,
      perSecond,
    })
  })
}
