/** A clock that differs from the world's time. It has a rate of its own, and it may jump. */
export class SimClock {
  readonly #world: { readonly now: number }
  #reading: number
  #since: number
  #rate: number

  constructor(world: { readonly now: number }, reading: number, rate: number) {
    this.#world = world
    this.#reading = reading
    this.#since = world.now
    this.#rate = rate
  }

  now(): number {
    return this.#reading + (this.#world.now - this.#since) * this.#rate
  }

  /** Returns how much of the world's time passes while this clock advances by `ownMs`. */
  worldMs(ownMs: number): number {
    return ownMs / this.#rate
  }

  jump(ms: number): void {
    this.#reading += ms
  }

  /** From now on the clock has the rate of the world's time. */
  straighten(): void {
    this.#reading = this.now()
    this.#since = this.#world.now
    this.#rate = 1
  }
}
