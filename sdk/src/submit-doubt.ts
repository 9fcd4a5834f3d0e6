import { isCounterstepError, isRefused, isUnavailable, UnavailableError } from './errors.ts'

/** A server says by these codes that it has stored nothing for this attempt. */
const NOTHING_STORED: ReadonlySet<string> = new Set([
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

/**
 * Remembers whether an attempt of one submit may have stored the transaction. What a later attempt is answered, also by another server with other
 * settings, proves nothing of an earlier one.
 */
export class SubmitDoubt {
  readonly #gid: string
  #mayBeStored = false

  constructor(gid: string) {
    this.#gid = gid
  }

  /** Returns the error of an attempt, or SAGA_OUTCOME_UNKNOWN if it speaks for this attempt alone and an earlier one may have stored the transaction. */
  weigh(error: unknown): unknown {
    if (!isCounterstepError(error)) return error
    const isOfThisAttempt = isRefused(error) || NOTHING_STORED.has(error.code)
    if (!isOfThisAttempt) {
      if (!wasNotSent(error)) this.#mayBeStored = true
      return error
    }
    // Nothing of this content is stored, or it would be the same.
    if (!this.#mayBeStored || error.code === 'SAGA_GID_CONFLICT') return error
    const message = `an earlier attempt may have stored ${this.#gid}; the last one was answered: ${error.message}`
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
