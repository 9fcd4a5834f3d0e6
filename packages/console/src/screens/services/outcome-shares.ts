import type { MinuteCounts } from '@counterstep/protocol'

type Outcomes = Omit<MinuteCounts, 'at'>

export function sumOutcomes(minutes: readonly Outcomes[]): Outcomes {
  const sum = { success: 0, failure: 0, ongoing: 0, unknown: 0 }
  for (const { success, failure, ongoing, unknown } of minutes) {
    sum.success += success
    sum.failure += failure
    sum.ongoing += ongoing
    sum.unknown += unknown
  }
  return sum
}

/** A share in per cent. What is not nothing never reads `0.0 %`, and what is not all never `100 %`. */
export function formatShare(part: number, total: number): string {
  if (total === 0) return '–'
  if (part === 0) return '0 %'
  if (part === total) return '100 %'
  const percent = Math.min(99.9, Math.max(0.1, (part / total) * 100))
  return `${percent.toFixed(1)} %`
}
