import type { LatencyMs } from './load-job.ts'

/** The points of the latency curve; the last is the slowest answer. */
export const CURVE_SHARES = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1]

/** Exact percentiles (nearest rank), in milliseconds with three decimals. NaN where nothing was answered. */
export function toLatency(durationsMs: readonly number[]): LatencyMs {
  const sorted = Float64Array.from(durationsMs).sort()
  const at = (share: number) => {
    const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
    return Math.round(value * 1000) / 1000
  }
  return {
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
    curve: CURVE_SHARES.map((share) => ({ share, ms: at(share) })),
  }
}
