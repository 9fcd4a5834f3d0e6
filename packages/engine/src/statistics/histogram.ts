/** Durations are counted in buckets, two an octave. Counts of several nodes are added; percentiles are never averaged. */
import type { LatencyView } from '@counterstep/protocol'

/** The last bucket has what is longer than all bounds. */
export const BUCKETS = 36

/** The upper bounds in milliseconds: 1, 1.41, 2, 2.83 and so on to 131,072. The first bucket has all up to 1 ms. */
const BOUNDS_MS = Float64Array.from({ length: BUCKETS - 1 }, (_, bucket) => 2 ** (bucket / 2))
const LONGEST_MS = 2 ** ((BUCKETS - 2) / 2)

/** Finds the bucket of a duration. */
export function findBucket(durationMs: number): number {
  // A duration that is not above 1, also one that is no number, goes to the first bucket.
  if (!(durationMs > 1)) return 0
  if (durationMs > LONGEST_MS) return BUCKETS - 1
  const octave = 31 - Math.clz32(durationMs)
  const bucket = 2 * octave
  if (durationMs <= (BOUNDS_MS[bucket] as number)) return bucket
  return durationMs <= (BOUNDS_MS[bucket + 1] as number) ? bucket + 1 : bucket + 2
}

/**
 * Reads a percentile. The durations of a bucket count as spread evenly over it. Those of the last bucket count as its
 * lower bound, since it has no upper one. Without any duration it is 0.
 */
export function readPercentile(counts: ArrayLike<number>, share: number): number {
  let total = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) total += counts[bucket] ?? 0
  if (total === 0) return 0
  const rank = total * share
  let below = 0
  for (let bucket = 0; bucket < BUCKETS - 1; bucket++) {
    const count = counts[bucket] ?? 0
    if (count > 0 && below + count >= rank) {
      const lower = bucket === 0 ? 0 : (BOUNDS_MS[bucket - 1] as number)
      const upper = BOUNDS_MS[bucket] as number
      return roundMs(lower + ((upper - lower) * (rank - below)) / count)
    }
    below += count
  }
  return LONGEST_MS
}

export function toLatency(counts: ArrayLike<number>): LatencyView {
  let count = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) count += counts[bucket] ?? 0
  return {
    count,
    p50Ms: readPercentile(counts, 0.5),
    p95Ms: readPercentile(counts, 0.95),
    p99Ms: readPercentile(counts, 0.99),
  }
}

/** The buckets are wide, so digits beyond a tenth of a millisecond would say nothing. */
function roundMs(ms: number): number {
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)
}
