import type { WaitOptions } from '@counterstep/engine'
import type { DtmRequest } from '../wire/read-request.ts'
import type { CommandDeps } from './deps.ts'

/** Builds the options of a command whose answer may wait, until nothing may come soon, and no longer once its caller is gone. */
export function toWaitOptions(waitMs: number, { watchCaller }: CommandDeps): WaitOptions {
  const gone = waitMs > 0 ? watchCaller?.() : undefined
  return { waitMs, untilIdle: true, ...(gone === undefined ? {} : { gone }) }
}

/** Counts what the request holds while its caller waits. */
export function holdRequest(wait: WaitOptions, request: DtmRequest): WaitOptions {
  return wait.waitMs === 0 ? wait : { ...wait, heldCharacters: JSON.stringify(request).length }
}
