import { toLatency } from './latency.ts'
import type { LoadLength, LoadResult } from './load-job.ts'

/** Takes every answer with its instant, and keeps those of the measured part. */
export class MeasuredPart {
  readonly #length: LoadLength
  readonly #startedAt: number
  readonly #durationsMs: number[] = []
  #answers = 0
  #firstAt = Number.NaN
  #lastAt = Number.NaN

  constructor(length: LoadLength, startedAt: number) {
    this.#length = length
    this.#startedAt = startedAt
  }

  get answers(): number {
    return this.#answers
  }

  answered(at: number, durationMs: number): void {
    this.#answers += 1
    if (!this.#isMeasured(at)) {
      // A count is measured from the last answer before it.
      this.#firstAt = at
      return
    }
    this.#lastAt = at
    this.#durationsMs.push(durationMs)
  }

  result(): Pick<LoadResult, 'answersPerSecond' | 'latencyMs'> {
    return {
      answersPerSecond: this.#durationsMs.length / this.#seconds(),
      latencyMs: toLatency(this.#durationsMs),
    }
  }

  #isMeasured(at: number): boolean {
    if (this.#length.type === 'count') return this.#answers > this.#length.warmUpAnswers
    const { warmUpSeconds, seconds } = this.#length
    const from = this.#startedAt + warmUpSeconds * 1000
    return at >= from && at < from + seconds * 1000
  }

  #seconds(): number {
    if (this.#length.type === 'time') return this.#length.seconds
    const from = this.#length.warmUpAnswers === 0 ? this.#startedAt : this.#firstAt
    return (this.#lastAt - from) / 1000
  }
}
