import { CounterstepError } from '@counterstep/protocol'

export function toKeysUnusableError(message: string, cause?: unknown): CounterstepError {
  return new CounterstepError('SAGA_KEYS_UNUSABLE', message, cause === undefined ? {} : { cause })
}

export function toUnauthenticatedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_UNAUTHENTICATED', message)
}

export function toForbiddenError(message: string): CounterstepError {
  return new CounterstepError('SAGA_FORBIDDEN', message)
}

export function toRateLimitedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_RATE_LIMITED', message)
}

export function toContendedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_CONTENDED', message)
}

/** Carries the time to wait before the next request, for the answer's `Retry-After`. */
export class QuotaExceededError extends CounterstepError {
  readonly retryAfterS: number

  constructor(retryAfterS: number) {
    super(
      'SAGA_QUOTA_EXCEEDED',
      'this key has had as much stored today as it may. This request stored nothing; an earlier one of its gid may stand',
    )
    this.name = 'QuotaExceededError'
    this.retryAfterS = retryAfterS
  }
}

export function createHostRefusedError(): CounterstepError {
  return new CounterstepError(
    'SAGA_HOST_REFUSED',
    'this server does not answer to that Host; see --allowed-hosts',
  )
}

export function createOriginRefusedError(): CounterstepError {
  return new CounterstepError('SAGA_ORIGIN_REFUSED', 'a page of another origin may change nothing here')
}
