import type { Pool } from './pool.ts'
import type { Target } from './target.ts'

const NONE: readonly Target[] = []

/**
 * These are the places of a submit. They are given back when its transaction makes its first call, has ended or was
 * not stored.
 */
export class Admission {
  readonly #pool: Pool
  readonly #places: number
  #targets: readonly Target[]

  /** `places` is the number of places that it takes at each target. */
  constructor(pool: Pool, targets: readonly Target[], places: number) {
    this.#pool = pool
    this.#places = places
    this.#targets = targets
    for (const target of targets) pool.take(target, places)
  }

  /** Gives the places back, once. */
  end(): void {
    if (this.#targets === NONE) return
    for (const target of this.#targets) this.#pool.give(target, this.#places)
    this.#targets = NONE
  }
}
