import { StoreUnavailableError } from '@counterstep/core'

export interface InFlightBounds {
  readonly commandsInFlightMax: number
  readonly bytesInFlightMax: number
}

/** Counts the commands that wait for an answer of Redis, on all connections of a store together. */
export class InFlight {
  readonly #bounds: InFlightBounds
  #commands = 0
  #bytes = 0

  constructor(bounds: InFlightBounds) {
    this.#bounds = bounds
  }

  get commands(): number {
    return this.#commands
  }

  /**
   * Counts a command in, or throws if there is no room for it. A command that is larger than the bound of bytes may
   * enter when it is alone.
   */
  enter(bytes: number): void {
    const { commandsInFlightMax, bytesInFlightMax } = this.#bounds
    if (
      this.#commands >= commandsInFlightMax ||
      (this.#bytes > 0 && this.#bytes + bytes > bytesInFlightMax)
    ) {
      throw new StoreUnavailableError('too much waits for Redis', { applied: 'no' })
    }
    this.#commands += 1
    this.#bytes += bytes
  }

  leave(bytes: number): void {
    this.#commands -= 1
    this.#bytes -= bytes
  }
}
