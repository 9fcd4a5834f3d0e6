import { type Clock, StoreUnavailableError } from '@counterstep/core'

const FIRST_WAIT_MS = 20
const WAIT_MS_MAX = 2_000

/**
 * Sends the same store call again until its answer is definite. A read alone proves nothing about a write whose
 * answer was lost, because the write may still be applied later. It resolves to undefined when `isGivenUp` says so,
 * and throws every error but the store's unavailability.
 */
export async function untilDefinite<T>(
  clock: Clock,
  call: () => Promise<T>,
  isGivenUp: () => boolean,
): Promise<T | undefined> {
  for (let waitMs = FIRST_WAIT_MS; !isGivenUp(); waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      return await call()
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
    }
    await delay(clock, waitMs)
  }
  return undefined
}

export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
}

/** Waits for a call for a limited time. The result is undefined when the call takes longer; the call itself goes on. */
export function within<T>(clock: Clock, limitMs: number, call: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => resolve(undefined))
    call.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (error: unknown) => {
        cancel()
        reject(error)
      },
    )
  })
}
