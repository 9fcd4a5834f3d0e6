import {
  isCounterstepError,
  isRefused,
  isUnavailable,
  type RefusedError,
  UnavailableError,
} from './errors.ts'
import { type Persistence, sendAgain } from './send-again.ts'

/** A server says by these codes that it has done nothing for this attempt. */
const NOTHING_DONE: ReadonlySet<string> = new Set([
  'SAGA_NOT_ACCEPTED',
  'SAGA_OVER_CAPACITY',
  'SAGA_TARGET_OVER_CAPACITY',
  'SAGA_STOPPING',
  'SAGA_STORE_FULL',
  'SAGA_QUOTA_EXCEEDED',
  'SAGA_RATE_LIMITED',
])
/** There was no address, or no connection, so nothing was sent. The last two may also end a connection that there was. */
const NO_ADDRESS: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Tells whether a refusal shows that no earlier attempt has been carried out. */
type IsDefinite = (refusal: RefusedError) => boolean

/** Nothing of this content is stored, or it would be the same. */
export const isOfOtherContent: IsDefinite = ({ code }) => code === 'SAGA_GID_CONFLICT'
/** It speaks of the state of the transaction. Any other one may come from a server with other keys, settings or an older store. */
const isOfState: IsDefinite = ({ status }) => status === 409

/** Sends a command to one transaction until it has a definite answer, as `sendAgain` does. All its attempts are one command. */
export function sendCommandAgain<Value>(
  gid: string,
  attempt: (number: number) => Promise<Value>,
  persistence: Persistence,
): Promise<Value> {
  return sendInDoubt(gid, isOfState, attempt, persistence)
}

/** Repeats a request as `sendAgain` does. A refusal counts only if it is definite, or if no earlier attempt may have been carried out. */
export function sendInDoubt<Value>(
  gid: string,
  isDefinite: IsDefinite,
  attempt: (number: number) => Promise<Value>,
  persistence: Persistence,
): Promise<Value> {
  const doubt = new AttemptDoubt(gid, isDefinite)
  return sendAgain(async (number) => {
    try {
      return await attempt(number)
    } catch (error: unknown) {
      throw doubt.weigh(error)
    }
  }, persistence)
}

/**
 * Remembers whether an attempt of one request may have been carried out. What a later attempt is answered, also by another server with other
 * settings, proves nothing of an earlier one.
 */
class AttemptDoubt {
  readonly #gid: string
  readonly #isDefinite: IsDefinite
  #mayBeDone = false

  constructor(gid: string, isDefinite: IsDefinite) {
    this.#gid = gid
    this.#isDefinite = isDefinite
  }

  /** Returns the error of an attempt, or SAGA_OUTCOME_UNKNOWN if it speaks for this attempt alone and an earlier one may have been carried out. */
  weigh(error: unknown): unknown {
    if (!isCounterstepError(error)) return error
    const isOfThisAttempt = isRefused(error) || NOTHING_DONE.has(error.code)
    if (!isOfThisAttempt) {
      if (!wasNotSent(error)) this.#mayBeDone = true
      return error
    }
    if (!this.#mayBeDone || (isRefused(error) && this.#isDefinite(error))) return error
    const message = `an earlier attempt for ${this.#gid} may have been carried out; the last one was answered: ${error.message}`
    return new UnavailableError('SAGA_OUTCOME_UNKNOWN', message, {
      gid: this.#gid,
      cause: error,
      status: isRefused(error) || isUnavailable(error) ? error.status : undefined,
      retryAfterMs: isUnavailable(error) ? error.retryAfterMs : undefined,
    })
  }
}

function wasNotSent(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(wasNotSent)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  if (NO_ADDRESS.has(code) || (NOT_CONNECTED.has(code) && syscall === 'connect')) return true
  return wasNotSent(error.cause)
}
