import type { Pool } from './pool.ts'
import type { Target } from './target.ts'

const NONE: readonly Target[] = []

/** The places of a submit, until its transaction makes its first call and holds places by its calls, or has ended or was not stored. */
export class Admission {
  readonly #pool: Pool
  #targets: readonly Target[]

  constructor(pool: Pool, targets: readonly Target[]) {
    this.#pool = pool
    this.#targets = targets
    for (const target of targets) pool.take(target)
  }

  /** Gives them back, once. */
  end(): void {
    if (this.#targets === NONE) return
    for (const target of this.#targets) this.#pool.give(target)
    this.#targets = NONE
  }
}
