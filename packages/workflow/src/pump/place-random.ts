import { drawFraction, drawUuid, type Random, seedRandom } from '../rules/seeded-random.ts'

/**
 * Draws the chance of one generation. The function draws from one sequence, the same in each replay. Code that runs only the first
 * time, and is left out by replays, draws from a sequence of its own, which follows from the id of what it is run for.
 */
export class PlaceRandom {
  readonly #seed: string
  #sequence: Random

  constructor(seed: string) {
    this.#seed = seed
    this.#sequence = seedRandom(seed)
  }

  drawFraction(): number {
    return drawFraction(this.#sequence)
  }

  drawUuid(): string {
    return drawUuid(this.#sequence)
  }

  within<Value>(id: string, code: () => Value): Value {
    const outer = this.#enter(id)
    try {
      return code()
    } finally {
      this.#sequence = outer
    }
  }

  /** The function waits until the code has ended, so it draws nothing meanwhile. */
  async withinAsync(id: string, code: () => unknown): Promise<unknown> {
    const outer = this.#enter(id)
    try {
      return await code()
    } finally {
      this.#sequence = outer
    }
  }

  #enter(id: string): Random {
    const outer = this.#sequence
    this.#sequence = seedRandom(`${this.#seed}\n${id}`)
    return outer
  }
}
