import type { ReachedBound } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'

const WARNING_INTERVAL_MS = 60_000

/** Logs that a bound on callers' connections was reached: of each bound the first time, then at most once a minute. */
export function warnOfBounds(logger: Logger): (bound: ReachedBound) => void {
  const warnedAt = new Map<ReachedBound, number>()
  return function warn(bound) {
    const now = performance.now()
    const last = warnedAt.get(bound)
    if (last !== undefined && now - last < WARNING_INTERVAL_MS) return
    warnedAt.set(bound, now)
    logger.warn({ bound }, 'a bound on connections was reached, and connections are ended')
  }
}
