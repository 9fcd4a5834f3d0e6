import { describe, expect, it } from 'vitest'
import { BUCKETS, findBucket, readPercentile, toLatency } from '../../src/statistics/histogram.ts'

function count(...durations: readonly number[]): number[] {
  const counts = Array<number>(BUCKETS).fill(0)
  for (const duration of durations) counts[findBucket(duration)] = (counts[findBucket(duration)] ?? 0) + 1
  return counts
}

describe('the bucket of a duration', () => {
  it.each([
    [0, 0],
    [0.4, 0],
    [1, 0],
    [1.2, 1],
    [1.5, 2],
    [2, 2],
    [2.5, 3],
    [3, 4],
    [4, 4],
    [5, 5],
    [6, 6],
    [1_000, 20],
    [1_024, 20],
    [1_025, 21],
    [1_449, 22],
    [120_000, 34],
    [131_072, 34],
    [131_073, 35],
    [86_400_000, 35],
    [-3, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 35],
  ])('of %d ms is %d', (durationMs, bucket) => {
    expect(findBucket(durationMs)).toBe(bucket)
  })

  it('is the first whose bound is not below the duration', () => {
    for (let durationMs = 1; durationMs <= 131_072; durationMs += durationMs < 5_000 ? 1 : 37) {
      const bucket = findBucket(durationMs)
      expect(durationMs).toBeLessThanOrEqual(2 ** (bucket / 2))
      if (bucket > 0) expect(durationMs).toBeGreaterThan(2 ** ((bucket - 1) / 2))
    }
  })
})

describe('a percentile', () => {
  it.each([
    ['nothing', [], 0.99, 0],
    ['one', [8], 1, 8],
    ['one, whose bucket is from 5.7 ms on', [8], 0.5, 6.8],
    ['a hundred of one bucket', Array<number>(100).fill(1_000), 0.5, 874],
    ['the slowest of a hundred', [...Array<number>(99).fill(2), 4_096], 1, 4_096],
    ['all but the slowest', [...Array<number>(99).fill(2), 4_096], 0.99, 2],
    ['what is longer than all bounds', [500_000], 0.5, 131_072],
  ])('of %s', (_what, durations, share, ms) => {
    expect(readPercentile(count(...durations), share)).toBe(ms)
  })

  it('of two nodes is that of their added counts, and not the average of theirs', () => {
    const quick = count(...Array<number>(99).fill(2))
    const slow = count(4_096)
    const both = quick.map((each, bucket) => each + (slow[bucket] ?? 0))
    expect(readPercentile(both, 0.5)).toBeLessThanOrEqual(2)
    expect(toLatency(both)).toMatchObject({ count: 100, p95Ms: 2, p99Ms: 2 })
  })

  it('is never outside the bucket of the duration at its rank', () => {
    const durations = Array.from({ length: 1_000 }, (_, n) => 1 + ((n * 7_919) % 90_000))
    const sorted = [...durations].sort((left, right) => left - right)
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      const read = readPercentile(count(...durations), share)
      expect(Math.abs(Math.log2(read / exact))).toBeLessThanOrEqual(0.5)
    }
  })
})
