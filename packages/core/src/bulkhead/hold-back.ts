/** Decides when a transaction that was given back to the store, because its next target has no place, is due again. */
import { drawBetween } from './draw-between.ts'

/** A transaction that found no place at a target that hangs is given back for at least this long beyond `holdMs`. */
export const HELD_BACK_MS_MIN = 15_000
/** The drawn time beyond `holdMs` is shorter than this. */
export const HELD_BACK_MS_MAX = 30_000
/** The same two limits where the target is only busy. */
const BUSY_BACK_MS_MIN = 50
const BUSY_BACK_MS_MAX = 500
/**
 * The transactions of one target come back at least this far apart, unless a busy target is known to answer more often.
 */
const COME_BACK_APART_MS = 10
/** The distance for a busy target whose rate is not known. */
const COME_BACK_APART_MS_UNKNOWN = 1
/** The least distance for a busy target. */
const COME_BACK_APART_MS_MIN = 0.25
/** The longest queue of one target. Transactions beyond it come back at a random instant within this time. */
export const COME_BACK_MS_MAX = 300_000

export interface HoldBack {
  /** When the last transaction of this target comes back, by the clock of `now`. */
  readonly comeBackAt: number
  readonly now: number
  readonly holdMs: number
  /** The target may not be called earlier than in this many milliseconds. */
  readonly leastMs: number
  readonly isBusy: boolean
  /** The mean time between two places that come free, if it is known. It counts only where the target is busy. */
  readonly roomEveryMs: number | undefined
  /** A random number in [0, 1). */
  readonly jitter01: number
}

export interface HeldBack {
  readonly waitMs: number
  /** The new `comeBackAt`, for the next transaction of the same target. */
  readonly comeBackAt: number
}

/**
 * Returns how long a transaction is left to the store when its next call found no place. The time is longer than
 * `holdMs`, so that the transaction does not wait in memory, and it is drawn at random, so that transactions that came
 * together come back apart. For one target they come back one after the other, since each costs a claim and a save, and
 * a hundred thousand that wait for one service must not use up the store for all others. A target that answers gets
 * them as fast as it answers, so its backlog takes no longer than its answers do.
 */
export function holdBack(given: HoldBack): HeldBack {
  const { comeBackAt, now, holdMs, leastMs, jitter01 } = given
  const drawnMs = given.isBusy
    ? drawBetween(jitter01, BUSY_BACK_MS_MIN, BUSY_BACK_MS_MAX)
    : drawBetween(jitter01, HELD_BACK_MS_MIN, HELD_BACK_MS_MAX)
  const aheadMs = Math.max(0, comeBackAt - now) + computeApartMs(given)
  const queueMs = aheadMs > COME_BACK_MS_MAX ? jitter01 * COME_BACK_MS_MAX : aheadMs
  return {
    waitMs: Math.ceil(holdMs + Math.max(leastMs, drawnMs) + queueMs),
    comeBackAt: now + Math.min(aheadMs, COME_BACK_MS_MAX),
  }
}

function computeApartMs({ isBusy, roomEveryMs = COME_BACK_APART_MS_UNKNOWN }: HoldBack): number {
  if (!isBusy) return COME_BACK_APART_MS
  return Math.min(COME_BACK_APART_MS, Math.max(COME_BACK_APART_MS_MIN, roomEveryMs))
}
