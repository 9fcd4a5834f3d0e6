/** How often one target has room again for what was claimed, as it is measured while what finds no room is given back. */
export interface RoomRate {
  /** The measurement began at this instant, by the clock of `now`. */
  readonly since: number
  /** The answers until then. */
  readonly answers: number
  /** Undefined: it is not known yet. */
  readonly everyMs: number | undefined
}

export const UNMEASURED: RoomRate = { since: Number.NEGATIVE_INFINITY, answers: 0, everyMs: undefined }

/** It is measured over this time at least, */
export const MEASURE_MS_MIN = 250
/** and what was measured over a longer time says nothing of now. */
export const MEASURE_MS_MAX = 5_000

/** `answers` are the definite ones that calls of claimed transactions have had since this node counts for the target. */
export function measureRoom(before: RoomRate, answers: number, now: number): RoomRate {
  const elapsedMs = now - before.since
  if (elapsedMs < MEASURE_MS_MIN) return before
  const everyMs = elapsedMs / Math.max(1, answers - before.answers)
  return { since: now, answers, everyMs: elapsedMs > MEASURE_MS_MAX ? undefined : everyMs }
}
