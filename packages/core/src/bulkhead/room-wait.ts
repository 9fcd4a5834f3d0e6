/** Decides how long a transaction waits in memory for a place at its next target. */
import { drawBetween } from './draw-between.ts'

/** A target that has given a definite answer within this time is only busy. */
export const BUSY_MS = 2_000
/** The longest time that a transaction waits in memory for a place at a busy target. */
export const ROOM_WAIT_MS = 3_000
/**
 * Transactions that wait in memory may take this part of the node's places for transactions. It is less than the
 * reserved part, so that they never take the last place from a transaction that would find a place at its target.
 */
const ROOM_WAITING_PART = 1 / 8
const TRY_AGAIN_MS_MIN = 50
const TRY_AGAIN_MS_MAX = 100

/** Returns how many transactions may wait in memory for a place, for all targets together. */
export function roomWaitersMax(placesMax: number): number {
  return Math.max(1, Math.floor(placesMax * ROOM_WAITING_PART))
}

export interface RoomWait {
  /** The time since the target's last definite answer. */
  readonly answeredMs: number
  /** The time since the transaction found no place for the first time. */
  readonly waitedMs: number
}

export function isBusy(answeredMs: number): boolean {
  return answeredMs < BUSY_MS
}

/**
 * Returns how long a transaction waits in memory before it tries its target again. It waits a moment where the target is
 * only busy, since a place comes free soon. Undefined: it is given back to the store. So the backlog of a target that
 * works goes on at once, and the backlog of a target that hangs does not fill the memory of the node.
 */
export function waitForRoomMs({ answeredMs, waitedMs }: RoomWait, jitter01: number): number | undefined {
  if (!isBusy(answeredMs) || waitedMs >= ROOM_WAIT_MS) return undefined
  return Math.ceil(drawBetween(jitter01, TRY_AGAIN_MS_MIN, TRY_AGAIN_MS_MAX))
}
