/** At most `max` pieces of work at once; the others wait in the order they came. */
export class CallSlots {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  async use(work: () => Promise<void>): Promise<void> {
    if (this.#used >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#used++
    try {
      await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#used--
      else next()
    }
  }
}
