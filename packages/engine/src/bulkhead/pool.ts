import {
  assert,
  mayTakePlace,
  mayTakeUnlistedPlace,
  type ShareBounds,
  toBoundsUnderWay,
} from '@counterstep/core'

/** These are the pools of places. Each number is the pool's index in `held` of a target. */
export const POOL = {
  freshTransactions: 0,
  recoveredTransactions: 1,
  freshCalls: 2,
  closingCalls: 3,
  recoveredCalls: 4,
  /** Transactions that wait in memory for a place at the target. */
  freshWaiters: 5,
  recoveredWaiters: 6,
} as const
export const POOLS = Object.keys(POOL).length

/** A pool reads and writes only this much of a target. */
interface PoolTarget {
  readonly isListed: boolean
  /** The numbers of places that it uses, by the indices of POOL. */
  readonly held: number[]
}

/** This is a bounded number of places that targets share. */
export class Pool {
  readonly #index: number
  readonly #bounds: ShareBounds
  readonly #boundsUnderWay: ShareBounds
  #used = 0
  /** The places that all targets which are not listed use together. */
  #usedUnlisted = 0

  constructor(name: keyof typeof POOL, bounds: ShareBounds) {
    this.#index = POOL[name]
    this.#bounds = bounds
    this.#boundsUnderWay = toBoundsUnderWay(bounds)
  }

  get used(): number {
    return this.#used
  }

  mayTake(target: PoolTarget): boolean {
    return this.#mayTakeBy(this.#bounds, target)
  }

  /** Tells whether a transaction that is under way may go on to this target. */
  mayGoOn(target: PoolTarget): boolean {
    return this.#mayTakeBy(this.#boundsUnderWay, target)
  }

  take(target: PoolTarget, places = 1): void {
    this.#used += places
    if (!target.isListed) this.#usedUnlisted += places
    target.held[this.#index] = this.#heldBy(target) + places
  }

  give(target: PoolTarget, places = 1): void {
    this.#used -= places
    if (!target.isListed) this.#usedUnlisted -= places
    target.held[this.#index] = this.#heldBy(target) - places
    assert(this.#used >= 0 && this.#heldBy(target) >= 0, 'a place was given back twice')
  }

  #mayTakeBy(bounds: ShareBounds, target: PoolTarget): boolean {
    const held = this.#heldBy(target)
    const free = bounds.placesMax - this.#used
    return target.isListed
      ? mayTakePlace(held, free, bounds)
      : mayTakeUnlistedPlace(held, this.#usedUnlisted, free, bounds)
  }

  #heldBy(target: PoolTarget): number {
    return target.held[this.#index] ?? 0
  }
}
