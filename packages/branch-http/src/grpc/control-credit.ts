/** A service has so much at first, and never more. */
const CREDIT_MAX = 1_000
/** A service of grpc-go pings about once for each answer, to measure the bandwidth. */
const CREDIT_PER_CALL = 8
const CREDIT_PER_MS = 0.01
/** A service that goes on so far beyond its credit floods. */
const DEBT_MAX = 1_000

/** Bounds the pings and settings that a service sends over one connection, by its calls and by time. */
export class ControlCredit {
  #credit = CREDIT_MAX
  #countedAt: number

  constructor(now: number) {
    this.#countedAt = now
  }

  addCall(): void {
    this.#credit = Math.min(CREDIT_MAX, this.#credit + CREDIT_PER_CALL)
  }

  /** Takes one frame from the credit, and tells whether the service is still within it. */
  takeFrame(now: number): 'within' | 'over' | 'flood' {
    const grown = (now - this.#countedAt) * CREDIT_PER_MS
    this.#countedAt = now
    this.#credit = Math.min(CREDIT_MAX, this.#credit + grown) - 1
    if (this.#credit >= 0) return 'within'
    return this.#credit >= -DEBT_MAX ? 'over' : 'flood'
  }
}
