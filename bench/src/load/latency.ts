import type { LatencyMs } from './load-job.ts'

/** Exact percentiles (nearest rank), in milliseconds with three decimals. NaN where nothing was answered. */
export function latencyOf(durationsMs: readonly number[]): LatencyMs {
  const sorted = Float64Array.from(durationsMs).sort()
  const at = (share: number) => {
    const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
    return Math.round(value * 1000) / 1000
  }
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}
