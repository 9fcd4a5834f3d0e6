import type { WaitOptions } from '@counterstep/engine'
import type { CommandDeps } from './deps.ts'

/** Builds the options of a command whose answer may wait, until nothing may come soon, and no longer once its caller is gone. */
export function toWaitOptions(waitMs: number, { watchCaller }: CommandDeps): WaitOptions {
  const gone = waitMs > 0 ? watchCaller?.() : undefined
  return { waitMs, untilIdle: true, ...(gone === undefined ? {} : { gone }) }
}
