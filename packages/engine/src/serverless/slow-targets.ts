import {
  countHeldTime,
  type HeldBounds,
  type HeldTime,
  heldBoundsOfTarget,
  heldBoundsOfUnlisted,
  mayHold,
  NOTHING_HELD,
  readHeldMs,
} from '@counterstep/core'
import type { Target } from '../bulkhead/target.ts'
import type { OwnCalls } from '../runner.ts'

/** The number of targets that are remembered at most. Beyond it the one that was counted first is forgotten. */
const TARGETS_MAX = 1_024

/**
 * Remembers between the invocations of one environment which targets have held it lately, and leaves calls to those, and
 * calls that have hung before, to the function for slow calls. Each environment learns this for itself, by one call.
 */
export class SlowTargets implements OwnCalls {
  readonly #now: () => number
  readonly #ofOne: HeldBounds
  readonly #ofUnlisted: HeldBounds
  readonly #held = new Map<string, HeldTime>()
  #heldByUnlisted = NOTHING_HELD

  constructor(now: () => number, quickCallMs: number) {
    this.#now = now
    this.#ofOne = heldBoundsOfTarget(quickCallMs)
    this.#ofUnlisted = heldBoundsOfUnlisted(quickCallMs)
  }

  mayCall({ name, isListed }: Pick<Target, 'name' | 'isListed'>, hasHung: boolean): boolean {
    const now = this.#now()
    if (hasHung || !mayHold(this.#held.get(name) ?? NOTHING_HELD, now, this.#ofOne)) return false
    return isListed || mayHold(this.#heldByUnlisted, now, this.#ofUnlisted)
  }

  countCall({ name, isListed }: Pick<Target, 'name' | 'isListed'>, startedAt: number, endedAt: number): void {
    const call = { startedAt, endedAt }
    const before = this.#held.get(name) ?? NOTHING_HELD
    const held = countHeldTime(before, call, this.#ofOne)
    if (held === before) return
    this.#held.delete(name)
    this.#forgetOld(endedAt)
    this.#held.set(name, held)
    if (!isListed) this.#heldByUnlisted = countHeldTime(this.#heldByUnlisted, call, this.#ofUnlisted)
  }

  #forgetOld(now: number): void {
    for (const [name, held] of this.#held) {
      if (this.#held.size < TARGETS_MAX && readHeldMs(held, now, this.#ofOne) > 0) return
      this.#held.delete(name)
    }
  }
}
