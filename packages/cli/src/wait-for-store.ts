import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '@counterstep/core'

const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 2_000
/**
 * A database that is still being set up refuses logins until its users exist, so a refused login is tried again for this
 * long. It is not tried for the whole wait, because most often the password is wrong.
 */
export const LOGIN_REFUSED_WAIT_MS_MAX = 3_000

export interface StoreWait {
  /** No attempt starts later than this after the first one. 0 makes one attempt. */
  readonly waitMs: number
  /** It ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal
  readonly onRetry: (error: Error, waitedMs: number) => void
}

/**
 * Tries again while the store is unavailable, since containers start in any order and it may answer soon. Every other
 * error ends the wait at once.
 */
export async function waitForStore<Result>(
  attempt: () => Promise<Result>,
  { waitMs, signal, onRetry }: StoreWait,
): Promise<Result> {
  const startedAt = performance.now()
  let refusedSince: number | undefined
  for (let retryMs = RETRY_MS_MIN; ; retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)) {
    try {
      return await rejectOnAbort(attempt(), signal)
    } catch (error: unknown) {
      signal.throwIfAborted()
      if (!(error instanceof StoreUnavailableError)) throw error
      const now = performance.now()
      const waitedMs = Math.round(now - startedAt)
      if (waitedMs + retryMs > waitMs) throw error
      refusedSince = error.isLoginRefused ? (refusedSince ?? now) : undefined
      if (refusedSince !== undefined && now - refusedSince + retryMs > LOGIN_REFUSED_WAIT_MS_MAX) throw error
      onRetry(error, waitedMs)
    }
    await delay(retryMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * Rejects when the signal aborts. The result of an abandoned attempt is dropped, since an aborted start ends the
 * process.
 */
function rejectOnAbort<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    void result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}
