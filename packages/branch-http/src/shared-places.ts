const ASKED_AT_ONCE = 8

/** Has calls that wait for a place. */
export interface Waiting {
  /** A place may be free. */
  goOn(): void
}

/**
 * Bounds the calls in flight at all origins that the configuration does not list, together. While the head of an answer is not
 * whole, undici keeps each of its fields, some 50 KB of memory, and the origins of a wildcard are as many as a client likes.
 */
export class SharedPlaces {
  readonly #max: number
  readonly #waiting = new Set<Waiting>()
  #used = 0
  #isGiving = false

  constructor(max: number) {
    this.#max = max
  }

  /**
   * `held` are the places that the asker has. It gets one while these are less than half of what the others leave, so that origins
   * which hang never take all. If it gets none, its `goOn` is called once there may be one.
   */
  take(asker: Waiting, held: number): boolean {
    const othersLeave = this.#max - (this.#used - held)
    if (this.#used < this.#max && held < othersLeave / 2) {
      this.#used++
      return true
    }
    this.#waiting.add(asker)
    return false
  }

  /**
   * Those that have waited longest go on first. One may need no place any more, or have its part, and then the next one gets it. So
   * a few are asked, and one that gets none waits behind all others. One that is asked may give its place back at once, which the
   * loop that asks it sees.
   */
  give(): void {
    this.#used--
    if (this.#isGiving) return
    this.#isGiving = true
    try {
      this.#askWaiting()
    } finally {
      this.#isGiving = false
    }
  }

  #askWaiting(): void {
    for (let asked = 0; asked < ASKED_AT_ONCE && this.#used < this.#max; asked++) {
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      next.goOn()
    }
  }

  /** The asker has nothing that waits any more. */
  forget(asker: Waiting): void {
    this.#waiting.delete(asker)
  }
}
