import { StoreUnavailableError } from '@counterstep/core'

/** Sends the same write again until its outcome is known. */
export async function sendUntilDefinite<T>(
  send: () => Promise<T>,
  onUnknown: () => void = () => undefined,
): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (error.applied === 'unknown') onUnknown()
    }
  }
}
