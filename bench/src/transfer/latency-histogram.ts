/** A line as sysbench prints it: `   0.500 |***      12`, an upper value in milliseconds and a count. */
const LINE = /^\s*([\d.]+) \|\**\s+(\d+)\s*$/gm

/** Percentiles by nearest rank, as exact as the steps are. NaN of an empty one. */
export function latencyOfHistogram(text: string): { readonly p50: number; readonly p99: number } {
  const steps = [...text.matchAll(LINE)].map(([, value, count]) => ({
    value: Number(value),
    count: Number(count),
  }))
  const total = steps.reduce((sum, { count }) => sum + count, 0)
  const at = (share: number): number => {
    const rank = Math.max(1, Math.ceil(total * share))
    let seen = 0
    for (const { value, count } of steps) {
      seen += count
      if (seen >= rank) return value
    }
    return Number.NaN
  }
  return { p50: at(0.5), p99: at(0.99) }
}
