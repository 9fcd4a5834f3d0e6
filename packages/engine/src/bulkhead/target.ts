import { type RoomRate, UNMEASURED } from '@counterstep/core'
import { POOL, POOLS } from './pool.ts'

/** One origin at which branches are called, with the number of places that it uses in each pool. */
export class Target {
  /** This is the origin. A shared counter, which stands for many origins, has a text instead. */
  readonly name: string
  /** Tells whether the configuration names its origin. */
  readonly isListed: boolean
  /** The places it uses, by the indices of POOL. */
  readonly held = Array<number>(POOLS).fill(0)
  /** Says when the next call keeps the pace of this target, by this node's clock. */
  turnAt = 0
  /**
   * Says when a call to it last ended with a definite answer, or was made while none was under way, by this node's clock.
   */
  answeredAt = Number.NEGATIVE_INFINITY
  /** Says when the last transaction that was given back for this target is due again, by this node's clock. */
  comeBackAt = 0
  /** The number of definite answers to calls of claimed transactions. */
  recoveredAnswers = 0
  roomRate: RoomRate = UNMEASURED
  /** When its next large row may come back, by this node's clock. */
  nextLargeRowAt = 0
  /** After a plan that took long to read, no other one is read until this instant. */
  plansRestUntil = 0
  /** The number of calls that wait for their turn. */
  waiting = 0
  /** Says when it was last reported as over its share, by this node's clock. */
  toldAt = Number.NEGATIVE_INFINITY
  /** Tells whether it was looked up since the last sweep. */
  isUsed = true
  /** Tells whether its counters were removed to make room for another target. */
  isForgotten = false

  constructor(name: string, isListed = false) {
    this.name = name
    this.isListed = isListed
  }

  get callsInFlight(): number {
    const { held } = this
    return (held[POOL.freshCalls] ?? 0) + (held[POOL.closingCalls] ?? 0) + (held[POOL.recoveredCalls] ?? 0)
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.held.every((count) => count === 0)
  }
}
