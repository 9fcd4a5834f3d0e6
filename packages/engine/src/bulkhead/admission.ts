import type { Pool } from './pool.ts'
import type { Target } from './target.ts'

/** The places of a submit until its transaction runs, and holds places by its calls, or until it was not stored. */
export class Admission {
  readonly #pool: Pool
  #targets: readonly Target[]

  constructor(pool: Pool, targets: readonly Target[]) {
    this.#pool = pool
    this.#targets = targets
    for (const target of targets) pool.take(target)
  }

  end(): void {
    for (const target of this.#targets) this.#pool.give(target)
    this.#targets = []
  }
}
