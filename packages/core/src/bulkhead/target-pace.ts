/** Computes when the calls to one target keep its pace. */

/** A call may be this far ahead of an even pace, because a few calls at once do no harm. */
export const PACE_AHEAD_MS = 100

/** Returns how long a call waits for a target whose next even turn is at `turnAt`. */
export function paceWaitMs(turnAt: number, now: number): number {
  return Math.max(0, turnAt - PACE_AHEAD_MS - now)
}

/** Returns the turn after the one that a call has just taken. */
export function nextTurnAt(turnAt: number, now: number, perSecond: number): number {
  return Math.max(turnAt, now) + 1_000 / perSecond
}
