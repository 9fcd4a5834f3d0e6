/** At what times the calls to one target are in step with its pace. */

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
