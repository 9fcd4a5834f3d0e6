/** Draws a number from [min, max). `jitter01` is in [0, 1). */
export function drawBetween(jitter01: number, min: number, max: number): number {
  return min + jitter01 * (max - min)
}
