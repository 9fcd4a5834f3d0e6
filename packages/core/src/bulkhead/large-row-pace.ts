/**
 * Decides how long a large transaction waits before it is called again. Each repetition has its row claimed and saved, and
 * both cost as much as the row is long: a hundred rows of 1 MiB that were asked again each second wrote so much that the
 * submits of all others waited for seconds. So the large rows of one target come back one after the other.
 */
import { COME_BACK_MS_MAX } from './hold-back.ts'

/**
 * For each place that a row takes, the next row comes back this much later. So at most 6 MiB of rows come back a
 * second.
 */
const APART_MS_PER_PLACE = 5

export interface LargeRow {
  /** When the next large row may come back, by the clock of `now`. */
  readonly nextAt: number
  readonly now: number
  readonly places: number
}

export interface LargeRowTurn {
  /** When this row may come back: within five minutes. */
  readonly at: number
  /** The earliest instant at which the next large row may come back. */
  readonly nextAt: number
}

/** Returns the turn of a row with more than one place. Undefined: a row of one place waits for no turn. */
export function takeLargeRowTurn({ nextAt, now, places }: LargeRow): LargeRowTurn | undefined {
  if (places <= 1) return undefined
  const at = Math.min(Math.max(nextAt, now), now + COME_BACK_MS_MAX)
  return { at, nextAt: at + places * APART_MS_PER_PLACE }
}
