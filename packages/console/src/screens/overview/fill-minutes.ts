import type { EndedMinute } from '@counterstep/protocol'

const MINUTE_MS = 60_000
const SHOWN_MAX = 60
/** Two points make a line, and the minute that still runs is not drawn. A young memory has minutes of nothing before it. */
const SHOWN_MIN = 3

/** Leaves out the minute that still runs, which would look like a fall, unless it is all that there is. */
export function dropRunningMinute(
  minutes: readonly EndedMinute[],
  since: number,
  asOf: number,
): readonly EndedMinute[] {
  const hasWhole = Math.floor(since / MINUTE_MS) < Math.floor(asOf / MINUTE_MS)
  return hasWhole ? minutes.slice(0, -1) : minutes.slice(1)
}

/** Adds the minutes in which nothing was counted, from the begin of the memory to now, in the last hour at most. */
export function fillMinutes(
  minutes: readonly EndedMinute[],
  since: number,
  asOf: number,
): readonly EndedMinute[] {
  const last = Math.floor(asOf / MINUTE_MS)
  const count = Math.min(SHOWN_MAX, Math.max(SHOWN_MIN, last - Math.floor(since / MINUTE_MS) + 1))
  const byMinute = new Map(minutes.map((minute) => [Math.floor(minute.at / MINUTE_MS), minute]))
  return Array.from({ length: count }, (_each, index) => {
    const minute = last - count + 1 + index
    return (
      byMinute.get(minute) ?? { at: minute * MINUTE_MS, accepted: 0, succeeded: 0, failed: 0, stopped: 0 }
    )
  })
}
