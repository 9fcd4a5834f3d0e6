import type { Clock } from '@counterstep/core'
import { inEmptyContext } from './empty-context.ts'

// A longer delay would make setTimeout fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1

/** Returns the process's monotonic clock. */
export function nodeClock(): Clock {
  return {
    now: () => performance.now(),
    after(delayMs, callback) {
      const timer = setTimeout(
        () => inEmptyContext(callback),
        Math.min(Math.ceil(Math.max(delayMs, 0)), TIMER_MS_MAX),
      )
      return () => clearTimeout(timer)
    },
  }
}
