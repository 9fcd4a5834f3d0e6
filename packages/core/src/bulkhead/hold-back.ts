/** When a transaction comes again that was given back to the store since its next target has no place. */
import { drawBetween } from './draw-between.ts'

/** How long one is given back that found no room at a target that hangs, beyond `holdMs`; */
export const HELD_BACK_MS_MIN = 15_000
export const HELD_BACK_MS_MAX = 30_000
/** the same for one that is only busy. */
const BUSY_BACK_MS_MIN = 50
const BUSY_BACK_MS_MAX = 500
/** Those of one target come back apart by so much, and where it is known that it answers more often, only by that: */
const COME_BACK_APART_MS = 10
/** so much where it is busy and its rate is not known, */
const COME_BACK_APART_MS_UNKNOWN = 1
/** and no less than this. */
const COME_BACK_APART_MS_MIN = 0.25
/** All that takes no longer than this: beyond it, they come back at any instant within this time. */
export const COME_BACK_MS_MAX = 300_000

export interface HoldBack {
  /** When the last one of this target comes back, by the clock of `now`. */
  readonly comeBackAt: number
  readonly now: number
  readonly holdMs: number
  /** It may not be called earlier than in so many milliseconds. */
  readonly leastMs: number
  readonly isBusy: boolean
  /** How often it has room again, if that is known. Counts only where it is busy. */
  readonly roomEveryMs: number | undefined
  /** In [0, 1). */
  readonly jitter01: number
}

export interface HeldBack {
  readonly waitMs: number
  /** For the next one of the same target. */
  readonly comeBackAt: number
}

/**
 * How long a transaction is left to the store whose next call found no room: longer than `holdMs`, so that it does not wait
 * in memory; drawn, so that those that came together come back apart; and one after the other for one target, since each
 * costs a claim and a save, and a hundred thousand that wait for one service must not take the store from all others. A
 * target that answers gets them as fast as it answers, so that its backlog takes no longer than its answers do.
 */
export function holdBack(given: HoldBack): HeldBack {
  const { comeBackAt, now, holdMs, leastMs, jitter01 } = given
  const drawnMs = given.isBusy
    ? drawBetween(jitter01, BUSY_BACK_MS_MIN, BUSY_BACK_MS_MAX)
    : drawBetween(jitter01, HELD_BACK_MS_MIN, HELD_BACK_MS_MAX)
  const aheadMs = Math.max(0, comeBackAt - now) + apartMs(given)
  const queueMs = aheadMs > COME_BACK_MS_MAX ? jitter01 * COME_BACK_MS_MAX : aheadMs
  return {
    waitMs: Math.ceil(holdMs + Math.max(leastMs, drawnMs) + queueMs),
    comeBackAt: now + Math.min(aheadMs, COME_BACK_MS_MAX),
  }
}

function apartMs({ isBusy, roomEveryMs = COME_BACK_APART_MS_UNKNOWN }: HoldBack): number {
  if (!isBusy) return COME_BACK_APART_MS
  return Math.min(COME_BACK_APART_MS, Math.max(COME_BACK_APART_MS_MIN, roomEveryMs))
}
