/** A share of a width as the style wants it, cut to what a screen can show. */
export function toPercent(share: number): string {
  return `${Math.round(share * 100_000) / 1_000}%`
}
