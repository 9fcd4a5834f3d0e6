import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '@counterstep/core'

const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 2_000
/**
 * A database that is still being set up refuses logins until its users are there, so one that refuses is asked again for
 * so long, and not for the whole wait: most often the password is wrong.
 */
export const LOGIN_REFUSED_WAIT_MS_MAX = 3_000

export interface StoreWait {
  /** From the first attempt to the last one's start; 0 makes one attempt. */
  readonly waitMs: number
  /** Ends the wait at once, with the signal's reason. */
  readonly signal: AbortSignal
  readonly onRetry: (error: Error, waitedMs: number) => void
}

/** Containers start in any order: what is unavailable now may answer soon. Every other error ends the wait at once. */
export async function waitForStore<Result>(
  attempt: () => Promise<Result>,
  { waitMs, signal, onRetry }: StoreWait,
): Promise<Result> {
  const startedAt = performance.now()
  let refusedSince: number | undefined
  for (let retryMs = RETRY_MS_MIN; ; retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)) {
    try {
      return await unlessAborted(attempt(), signal)
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
function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    void result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}
