/**
 * The rate at which one target has places again for claimed transactions. It is
 * measured while transactions are given back for want of a place.
 */
export interface RoomRate {
  /** When the measurement began, by the clock of `now`. */
  readonly since: number
  /** The number of answers when the measurement began. */
  readonly answers: number
  /** The mean time between two answers. Undefined: it is not known yet. */
  readonly everyMs: number | undefined
}

export const UNMEASURED: RoomRate = { since: Number.NEGATIVE_INFINITY, answers: 0, everyMs: undefined }

/** A measurement takes at least this long. */
export const MEASURE_MS_MIN = 250
/** A measurement over a longer time says nothing about the present rate. */
export const MEASURE_MS_MAX = 5_000

/**
 * Updates the rate. `answers` counts the definite answers to calls of claimed
 * transactions since this node began to count for the target.
 */
export function measureRoom(before: RoomRate, answers: number, now: number): RoomRate {
  const elapsedMs = now - before.since
  if (elapsedMs < MEASURE_MS_MIN) return before
  const everyMs = elapsedMs / Math.max(1, answers - before.answers)
  return { since: now, answers, everyMs: elapsedMs > MEASURE_MS_MAX ? undefined : everyMs }
}
