import { assert, boundsUnderWay, mayTakePlace, type ShareBounds, shareBounds } from '@counterstep/core'
import type { Target } from './target.ts'

/** What is counted for each target: its place in `Target.held`. */
export const POOL = {
  freshTransactions: 0,
  recoveredTransactions: 1,
  freshCalls: 2,
  closingCalls: 3,
  recoveredCalls: 4,
  /** Transactions that wait in memory until there is room at the target. */
  freshWaiters: 5,
  recoveredWaiters: 6,
} as const
export const POOLS = Object.keys(POOL).length

/** A bounded number of places that targets share. */
export class Pool {
  readonly #max: number
  readonly #index: number
  readonly #bounds: ShareBounds
  readonly #boundsUnderWay: ShareBounds
  #used = 0

  constructor(name: keyof typeof POOL, max: number, share: number) {
    this.#max = max
    this.#index = POOL[name]
    this.#bounds = shareBounds(max, share)
    this.#boundsUnderWay = boundsUnderWay(this.#bounds)
  }

  get used(): number {
    return this.#used
  }

  mayTake(target: Target): boolean {
    return mayTakePlace(this.#heldBy(target), this.#max - this.#used, this.#bounds)
  }

  /** For what is under way already, and goes on to this target. */
  mayGoOn(target: Target): boolean {
    return mayTakePlace(this.#heldBy(target), this.#max - this.#used, this.#boundsUnderWay)
  }

  take(target: Target): void {
    this.#used++
    target.held[this.#index] = this.#heldBy(target) + 1
  }

  give(target: Target): void {
    this.#used--
    target.held[this.#index] = this.#heldBy(target) - 1
    assert(this.#used >= 0 && this.#heldBy(target) >= 0, 'a place was given back twice')
  }

  #heldBy(target: Target): number {
    return target.held[this.#index] ?? 0
  }
}
