const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Says a duration in its largest whole unit: `12 ms`, `4.2 s`, `51 min`, `3 h`, `2 d`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`
  for (const [name, unitMs] of UNITS) if (ms >= unitMs) return `${Math.floor(ms / unitMs)} ${name}`
  return `${Math.floor(ms / 1_000)} s`
}
