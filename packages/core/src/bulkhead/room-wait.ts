/** How long a transaction waits in memory for a place at its next target. */
import { drawBetween } from './draw-between.ts'

/** A target that has given a definite answer within this time is only busy. */
export const BUSY_MS = 2_000
/** The longest time that a transaction waits in memory for room at a busy target. */
export const ROOM_WAIT_MS = 3_000
/**
 * So much of the places that transactions have is for those that wait in memory for room. It is less than what is reserved of
 * them, so that what waits never takes the last place from a transaction that would find room.
 */
const ROOM_WAITING_PART = 1 / 8
const LOOK_AGAIN_MS_MIN = 50
const LOOK_AGAIN_MS_MAX = 100

/** How many of so many transactions may wait in memory for room, those of all targets together. */
export function roomWaitersMax(placesMax: number): number {
  return Math.max(1, Math.floor(placesMax * ROOM_WAITING_PART))
}

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
  return Math.ceil(drawBetween(jitter01, LOOK_AGAIN_MS_MIN, LOOK_AGAIN_MS_MAX))
}
