import type { Clock } from '@counterstep/core'

// setTimeout fires at once for longer delays.
const TIMER_MS_MAX = 2 ** 31 - 1

/** The process's monotonic clock. */
export function nodeClock(): Clock {
  return {
    now: () => performance.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, Math.min(Math.ceil(Math.max(delayMs, 0)), TIMER_MS_MAX))
      return () => clearTimeout(timer)
    },
  }
}
