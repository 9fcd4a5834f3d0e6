import type { EndedMinute } from '@counterstep/protocol'

const MINUTE_MS = 60_000
const SHOWN_MAX = 60
/** One point alone draws no line, so a memory that has just begun has a minute of nothing before it. */
const SHOWN_MIN = 2

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
