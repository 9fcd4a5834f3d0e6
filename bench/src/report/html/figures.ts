/** A figure for people: three digits that count, thousands apart. */
export function formatFigure(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  const size = Math.abs(value)
  if (size >= 100 || Number.isInteger(value)) return value.toLocaleString('en', { maximumFractionDigits: 0 })
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)))
  return value.toFixed(Math.min(digits, 4))
}

/** A figure at an axis: as short as can be. */
export function formatTick(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))}M`
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(3))}k`
  return String(Number(value.toPrecision(3)))
}
