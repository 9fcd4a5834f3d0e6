import { isUnavailable, type UnavailableError } from './errors.ts'
import { sleep } from './sleep.ts'
import { mayServeElsewhere } from './transport/server-ring.ts'

const FIRST_DELAY_MS = 100
const DELAY_MS_MAX = 5_000

export interface Persistence {
  /** No further attempt is begun after this time from the first one. */
  readonly retryForMs: number
  /** Each of them is asked before the first wait, and again after each wait. */
  readonly serverCount: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Tries again what is safe to repeat, with exponential back-off and full jitter, while the outcome is open. An
 * attempt after one that its server could not serve goes to the next server, and does not wait before each server was
 * asked.
 */
export async function sendAgain<Value>(
  attempt: (number: number) => Promise<Value>,
  { retryForMs, serverCount, signal }: Persistence,
): Promise<Value> {
  const until = performance.now() + retryForMs
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number)
    } catch (error: unknown) {
      if (!isUnavailable(error) || !mayPass(error)) throw error
      const isNextUnasked = mayServeElsewhere(error) && number % serverCount !== 0
      const delayMs = isNextUnasked ? 0 : backOff(Math.ceil(number / serverCount), error.retryAfterMs ?? 0)
      if (performance.now() + delayMs >= until) throw error
      await sleep(delayMs, signal)
    }
  }
}

/** A proxy's 4xx (no such host, no permission) will be the same the next time. */
function mayPass({ status }: UnavailableError): boolean {
  return status === undefined || status >= 500 || status === 429 || status === 408
}

/** Everyone was told the same Retry-After: the jitter is added to it, so that they do not all come back at once. */
function backOff(round: number, retryAfterMs: number): number {
  const wholeMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (round - 1))
  return retryAfterMs + Math.random() * wholeMs
}
