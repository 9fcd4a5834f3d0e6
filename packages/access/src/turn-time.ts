/** Requests of connections without a good key have this part of the time of each turn. */
const SHARE_OF_STRANGERS = 1 / 12

/** Measures the time that one turn of the event loop takes for requests, and how much of it strangers have taken. */
export class TurnTime {
  readonly #turnMsMax: number
  readonly #nowMs: () => number
  #msMax = 0
  #startedAt = 0
  #askedAt = 0
  #isStranger = false
  #strangersMs = 0

  constructor(turnMsMax: number, nowMs: () => number) {
    this.#turnMsMax = turnMsMax
    this.#nowMs = nowMs
  }

  /** Begins a turn that takes this part of the time at most. */
  start(part: number): void {
    this.#msMax = this.#turnMsMax * part
    this.#startedAt = this.#nowMs()
    this.#askedAt = this.#startedAt
    this.#isStranger = false
    this.#strangersMs = 0
  }

  /**
   * Tells whether the turn has time for one more request. All until the next call counts as the time of this one, since
   * what a request does by promises runs after it has begun.
   */
  take(isStranger: boolean): boolean {
    const now = this.#nowMs()
    if (this.#isStranger) this.#strangersMs += now - this.#askedAt
    this.#askedAt = now
    this.#isStranger = isStranger
    if (now - this.#startedAt >= this.#msMax) return false
    return !isStranger || this.#strangersMs < this.#msMax * SHARE_OF_STRANGERS
  }
}
