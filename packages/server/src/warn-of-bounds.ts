import type { ReachedBound } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'

const WARNING_INTERVAL_MS = 60_000

/** Logs that a bound on connections was reached, the first time and then at most once a minute for each bound. */
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
