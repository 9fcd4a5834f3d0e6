/** At most `max` pieces of work at once; the others wait in the order they came. */
export class CallSlots {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Undefined: a slot was free, and is the caller's; else one is when this resolves. For each the caller leaves once. */
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
