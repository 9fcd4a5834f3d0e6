/** One turn of the event loop begins this many bytes, and always at least one piece of work. */
const BYTES_PER_TURN_MAX = 64 * 1024

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
}

/**
 * Spreads work that takes as long as its bytes are many over turns of the event loop. So it stands between the requests of
 * others, and not before all of them: a service that held 120 answers of 64 KiB and gave them at one instant stopped a server for a
 * second. Holders take turns, so one with thousands of pieces delays another one by one turn.
 */
export class LoopTurns {
  /** The first holder has the next turn. */
  readonly #waiting = new Map<unknown, Waiting[]>()
  #isPlanned = false

  wait(holder: unknown, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(holder)
      if (own === undefined) this.#waiting.set(holder, [{ bytes, begin: resolve }])
      else own.push({ bytes, begin: resolve })
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#beginSome)
  }

  readonly #beginSome = (): void => {
    this.#isPlanned = false
    for (let bytes = 0; bytes < BYTES_PER_TURN_MAX; ) {
      const next = this.#takeNext()
      if (next === undefined) return
      bytes += next.bytes
      next.begin()
    }
    if (this.#waiting.size > 0) this.#plan()
  }

  #takeNext(): Waiting | undefined {
    const [[holder, own] = []] = this.#waiting
    const next = own?.shift()
    if (own === undefined) return undefined
    // The holder goes behind all others.
    this.#waiting.delete(holder)
    if (own.length > 0) this.#waiting.set(holder, own)
    return next
  }
}
