/** Maps values to places along an axis. */
export interface Scale {
  readonly ticks: readonly number[]
  at(value: number): number
}

export interface Range {
  readonly from: number
  readonly to: number
}

const STEPS = [1, 2, 2.5, 5, 10]

/** The scale runs from zero to a round number at or above `max`. */
export function linearScale(max: number, { from, to }: Range, tickCount = 4): Scale {
  const top = max > 0 ? max : 1
  const power = 10 ** Math.floor(Math.log10(top / tickCount))
  const step = power * (STEPS.find((each) => each * power * tickCount >= top) ?? 10)
  const count = Math.ceil(top / step - 1e-9)
  const end = step * count
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    at: (value) => from + ((to - from) * value) / end,
  }
}

const TENS_FROM = 40

/** The scale covers whole powers of ten, or of two where the span is small. */
export function logScale(min: number, max: number, { from, to }: Range): Scale {
  const base = max / min < TENS_FROM ? 2 : 10
  const log = (value: number) => Math.log(value) / Math.log(base)
  const first = Math.floor(log(min) + 1e-9)
  const last = Math.max(Math.ceil(log(max) - 1e-9), first + 1)
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, index) => base ** (first + index)),
    at: (value) => from + ((to - from) * (log(value) - first)) / (last - first),
  }
}
