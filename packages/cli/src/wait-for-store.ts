import { setTimeout as delay } from 'node:timers/promises'
import { isCounterstepError } from '@counterstep/protocol'

const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 2_000

export interface StoreWait {
  /** From the first attempt to the last one's start; 0 makes one attempt. */
  readonly waitMs: number
  /** Ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal
  readonly onRetry: (error: Error, waitedMs: number) => void
}

/** Containers start in any order: what is unavailable now may answer soon. Every other error ends the wait. */
export async function waitForStore<Result>(
  attempt: () => Promise<Result>,
  { waitMs, signal, onRetry }: StoreWait,
): Promise<Result> {
  const startedAt = performance.now()
  for (let retryMs = RETRY_MS_MIN; ; retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)) {
    try {
      return await unlessAborted(attempt(), signal)
    } catch (error: unknown) {
      signal.throwIfAborted()
      const waitedMs = Math.round(performance.now() - startedAt)
      if (!isUnavailable(error) || waitedMs + retryMs > waitMs) throw error
      onRetry(error, waitedMs)
    }
    await delay(retryMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

function isUnavailable(error: unknown): error is Error {
  return isCounterstepError(error) && error.code === 'SAGA_STORE_UNAVAILABLE'
}

/** What an abandoned attempt still brings is dropped: whoever aborts a start ends the process. */
function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    void result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}
