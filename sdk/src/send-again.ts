import { isUnavailable, type UnavailableError } from './errors.ts'
import { sleep } from './sleep.ts'
import { mayServeElsewhere } from './transport/server-ring.ts'

const FIRST_DELAY_MS = 100
const DELAY_MS_MAX = 5_000

export interface Persistence {
  /** No further attempt is begun after this time from the first one. */
  readonly retryForMs: number
  /** Each server is asked once before the first wait, and once more after each wait. */
  readonly serverCount: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Repeats a request that is safe to repeat, with exponential back-off and full jitter, while the outcome is open. If a
 * server cannot serve an attempt, the next attempt goes to the next server at once; the wait comes when each server was
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

/** If a proxy answers 4xx (no such host, no permission), it will answer the same the next time. */
function mayPass({ status }: UnavailableError): boolean {
  return status === undefined || status >= 500 || status === 429 || status === 408
}

/** All clients were told the same Retry-After. The jitter is added to it, so that they do not all come back at once. */
function backOff(round: number, retryAfterMs: number): number {
  const wholeMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (round - 1))
  return retryAfterMs + Math.random() * wholeMs
}
