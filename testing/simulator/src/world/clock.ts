/** A clock beside the world's time: it goes at a rate of its own, and jumps. */
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

  /** How much of the world's time passes while this clock goes on by `ownMs`. */
  worldMs(ownMs: number): number {
    return ownMs / this.#rate
  }

  jump(ms: number): void {
    this.#reading += ms
  }

  /** From here on it goes as the world's time does. */
  straighten(): void {
    this.#reading = this.now()
    this.#since = this.#world.now
    this.#rate = 1
  }
}
