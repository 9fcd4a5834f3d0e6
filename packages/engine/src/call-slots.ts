/** At most `max` pieces of work at once; the others wait in the order they came. */
export class CallSlots {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Undefined: the slot is taken, begin. Else it is when this resolves. Each is followed by one `leave`. */
  enter(): Promise<void> | undefined {
    if (this.#used >= this.#max) return new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#used++
    return undefined
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#used--
    else next()
  }
}
