/** Several measurements of one thing. Machines are noisy: the median is quoted, the range says how far to trust it. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: readonly number[]
}

export function toSpread(rounds: readonly number[]): Spread {
  const sorted = [...rounds].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const at = (index: number) => sorted[index] ?? Number.NaN
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
    rounds,
  }
}
