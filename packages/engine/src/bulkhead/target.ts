import { type RoomRate, UNMEASURED } from '@counterstep/core'
import { POOL, POOLS } from './pool.ts'

/** One origin that branches are called at, and how many places of each pool are held for it. */
export class Target {
  /** The origin; of one that stands for those beyond the bound, a word. */
  readonly name: string
  /** The configuration names its origin. */
  readonly isListed: boolean
  /** By the numbers of POOL. */
  readonly held = Array<number>(POOLS).fill(0)
  /** By this node's clock: when a call would be in step with the pace of this target. */
  turnAt = 0
  /** By this node's clock: when a call to it last ended with a definite answer, or was made while none was under way. */
  answeredAt = Number.NEGATIVE_INFINITY
  /** By this node's clock: when the last transaction comes back that was given back for this target. */
  comeBackAt = 0
  /** Definite answers that calls of claimed transactions have had. */
  recoveredAnswers = 0
  roomRate: RoomRate = UNMEASURED
  /** Calls that wait for their turn. */
  waiting = 0
  /** By this node's clock: when its being over its share was last reported. */
  toldAt = Number.NEGATIVE_INFINITY
  /** Looked for since the last sweep. */
  isUsed = true
  /** Its room was given to another. */
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
