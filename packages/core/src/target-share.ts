/**
 * How much of a bounded number of places one target (the origin that a branch is called at) may hold, so that a target
 * that hangs cannot stop the others.
 */

/** Targets that are told apart at once; all others together are one more. */
export const TARGETS_MAX = 128
/** The part of the places that is kept for targets which hold next to nothing. */
const RESERVED_PART = 1 / 4

/** The rule for one pool of places. */
export interface ShareBounds {
  /** In (0, 1]: what one target may hold of the places that are not reserved, while no other holds any. 1: no rule. */
  readonly share: number
  readonly reserved: number
  /** A target that holds fewer takes any free place, so the others can never leave it without these. */
  readonly guaranteed: number
}

export function shareBounds(placesMax: number, share: number): ShareBounds {
  if (share >= 1) return { share: 1, reserved: 0, guaranteed: 0 }
  const reserved = Math.floor(placesMax * RESERVED_PART)
  return { share, reserved, guaranteed: Math.max(1, Math.floor(reserved / (TARGETS_MAX + 1))) }
}

/**
 * Whether a target that holds `held` places may take one more while `free` places are left.
 *
 * The bound falls with what is free, as the dynamic thresholds of shared-memory switches do (Choudhury and Hahne, 1998):
 * a fixed bound of a half would be filled by two targets that hang. Here one target comes to a half of what is not
 * reserved, and two that hang at the same time come to a third each. Targets that begin to hang one after the other could
 * still halve what is left each time, and never give it back; the reserved places are out of their reach.
 */
export function mayTakePlace(held: number, free: number, bounds: ShareBounds): boolean {
  if (held < bounds.guaranteed) return free > 0
  return held * (1 - bounds.share) < (free - bounds.reserved) * bounds.share
}

/**
 * The rule for a transaction that already runs and goes on to its next target. Its share is larger than that of a submit,
 * so that a target which is only busy is filled by what has begun, and refuses what is new.
 */
export function boundsUnderWay(bounds: ShareBounds): ShareBounds {
  return { ...bounds, share: (1 + bounds.share) / 2 }
}

/** A call may be so much ahead of an even pace: a few calls at once are no flood. */
export const PACE_AHEAD_MS = 100

/** How long a call waits for a target whose next even turn is at `turnAt`. */
export function paceWaitMs(turnAt: number, now: number): number {
  return Math.max(0, turnAt - PACE_AHEAD_MS - now)
}

/** The turn after the one that a call has just taken. */
export function nextTurnAt(turnAt: number, now: number, perSecond: number): number {
  return Math.max(turnAt, now) + 1_000 / perSecond
}

/** A target that has given a definite answer within this time is only busy. */
export const BUSY_MS = 2_000
/** The longest time that a transaction waits in memory for room at a busy target. */
export const ROOM_WAIT_MS = 3_000
const LOOK_AGAIN_MS_MIN = 50
const LOOK_AGAIN_MS_MAX = 100

export interface RoomWait {
  /** Since the target's last definite answer. */
  readonly answeredMs: number
  /** Since the transaction found no room for the first time. */
  readonly waitedMs: number
}

export function isBusy(answeredMs: number): boolean {
  return answeredMs < BUSY_MS
}

/**
 * How long a transaction waits in memory for which its next target has no place: a moment where the target is only busy, since
 * a place comes free at once. Undefined: it is given back. So a backlog of a target that works goes on at once, and one of a
 * target that hangs does not stay in memory before those that could go on.
 */
export function waitForRoomMs({ answeredMs, waitedMs }: RoomWait, jitter01: number): number | undefined {
  if (!isBusy(answeredMs) || waitedMs >= ROOM_WAIT_MS) return undefined
  return Math.ceil(draw(jitter01, LOOK_AGAIN_MS_MIN, LOOK_AGAIN_MS_MAX))
}

/** How long one is given back that found no room at a target that hangs, beyond `holdMs`; */
export const HELD_BACK_MS_MIN = 15_000
export const HELD_BACK_MS_MAX = 30_000
/** the same for one that is only busy. */
const BUSY_BACK_MS_MIN = 50
const BUSY_BACK_MS_MAX = 500
/** Those of one target come back apart by so much at least, */
const COME_BACK_APART_MS = 10
/** as long as that takes them no longer than this: beyond it, all of them come back within this time. */
export const COME_BACK_MS_MAX = 300_000

export interface HoldBack {
  /** When the last one of this target comes back, by the clock of `now`. */
  readonly comeBackAt: number
  readonly now: number
  readonly holdMs: number
  /** It may not be called earlier than in so many milliseconds. */
  readonly leastMs: number
  readonly isBusy: boolean
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
 * costs a claim and a save, and a hundred thousand that wait for one service must not take the store from all others.
 */
export function holdBack(given: HoldBack): HeldBack {
  const { comeBackAt, now, holdMs, leastMs, jitter01 } = given
  const drawnMs = given.isBusy
    ? draw(jitter01, BUSY_BACK_MS_MIN, BUSY_BACK_MS_MAX)
    : draw(jitter01, HELD_BACK_MS_MIN, HELD_BACK_MS_MAX)
  const aheadMs = Math.max(0, comeBackAt - now) + COME_BACK_APART_MS
  const queueMs = aheadMs > COME_BACK_MS_MAX ? jitter01 * COME_BACK_MS_MAX : aheadMs
  return {
    waitMs: Math.ceil(holdMs + Math.max(leastMs, drawnMs) + queueMs),
    comeBackAt: now + Math.min(aheadMs, COME_BACK_MS_MAX),
  }
}

function draw(jitter01: number, min: number, max: number): number {
  return min + jitter01 * (max - min)
}
