import type { ErrorCode, ErrorMeaning, Fault, TransactionView } from '@counterstep/protocol'

/**
 * This is a stable code. Branch on it; a newer server may know codes that this version of the SDK does not.
 *
 * @example
 * ```ts
 * const isKnown = (code: CounterstepErrorCode) => code === 'SAGA_UNKNOWN_GID' || code === 'SAGA_GID_CONFLICT'
 * ```
 */
export type CounterstepErrorCode = ErrorCode | (string & {})

/**
 * The base of everything that the SDK throws on purpose (an aborted signal rejects with its own reason instead).
 *
 * - `meaning: 'failure'`: a definite no, nothing was done; the same again gets the same answer.
 * - `meaning: 'unavailable'`: it may or may not have been done; send the same again, with the same gid.
 * - `meaning: 'ongoing'`: not yet; ask again.
 * - `meaning: 'bug'`: the server has logged a fault of its own.
 *
 * @example
 * ```ts
 * try {
 *   await client.submit(transfer)
 * } catch (error: unknown) {
 *   if (!isCounterstepError(error)) throw error
 *   console.error(error.code, error.gid)
 * }
 * ```
 */
export class CounterstepError extends Error {
  readonly code: CounterstepErrorCode
  readonly meaning: ErrorMeaning
  /** The gid of the transaction that the error is about. */
  readonly gid?: string

  constructor(
    code: CounterstepErrorCode,
    message: string,
    options: { readonly meaning: ErrorMeaning; readonly gid?: string | undefined; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'CounterstepError'
    this.code = code
    this.meaning = options.meaning
    if (options.gid !== undefined) this.gid = options.gid
  }
}

/**
 * The server refused the request: nothing was stored, and the same request will be refused again.
 *
 * @example
 * ```ts
 * if (isRefused(error)) for (const fault of error.faults) console.error(fault.path, fault.message)
 * ```
 */
export class RefusedError extends CounterstepError {
  /** This is the HTTP status, 400 to 499. */
  readonly status: number
  /** Every fault that was found, each with a JSON pointer into the request. The list may be empty. */
  readonly faults: readonly Fault[]

  constructor(
    code: CounterstepErrorCode,
    message: string,
    options: {
      readonly status: number
      readonly faults: readonly Fault[]
      readonly gid?: string | undefined
    },
  ) {
    super(code, message, { meaning: 'failure', gid: options.gid })
    this.name = 'RefusedError'
    this.status = options.status
    this.faults = options.faults
  }
}

/**
 * There was no definite answer in the time that the call had. The request may have been carried out: send the same
 * again, with the same gid.
 *
 * @example
 * ```ts
 * if (isUnavailable(error)) await queue.putBack({ gid: error.gid })
 * ```
 */
export class UnavailableError extends CounterstepError {
  /** This is the HTTP status, if anything answered. */
  readonly status?: number
  /** This is the time that the server asked for with Retry-After, in milliseconds. */
  readonly retryAfterMs?: number

  constructor(
    code: CounterstepErrorCode,
    message: string,
    options: {
      readonly status?: number | undefined
      readonly retryAfterMs?: number | undefined
      readonly gid?: string | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(code, message, { meaning: 'unavailable', gid: options.gid, cause: options.cause })
    this.name = 'UnavailableError'
    if (options.status !== undefined) this.status = options.status
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

/**
 * The time of a `wait` is over, and the transaction goes on.
 *
 * @example
 * ```ts
 * if (isNotFinal(error)) console.log('still', error.transaction?.status)
 * ```
 */
export class NotFinalError extends CounterstepError {
  /** The transaction as it was last seen. It is absent if no server answered before the time was over. */
  readonly transaction?: TransactionView

  constructor(gid: string, transaction: TransactionView | undefined, cause?: unknown) {
    super('SAGA_NOT_FINAL', `${gid} is not final yet`, { meaning: 'ongoing', gid, cause })
    this.name = 'NotFinalError'
    if (transaction !== undefined) this.transaction = transaction
  }
}

/**
 * Tells whether an error came from Counterstep. The guards read the code, since `instanceof` fails across two copies
 * of a package.
 *
 * @example
 * ```ts
 * if (isCounterstepError(error) && error.code === 'SAGA_UNKNOWN_GID') return undefined
 * ```
 */
export function isCounterstepError(error: unknown): error is CounterstepError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('SAGA_') &&
    'meaning' in error
  )
}

/**
 * Tells whether the server refused the request for good.
 *
 * @example
 * ```ts
 * if (isRefused(error)) console.error(error.status, error.faults)
 * ```
 */
export function isRefused(error: unknown): error is RefusedError {
  return isCounterstepError(error) && error.meaning === 'failure' && 'status' in error && 'faults' in error
}

/**
 * Tells whether the outcome is open, so that the same should be sent again with the same gid.
 *
 * @example
 * ```ts
 * if (isUnavailable(error)) retryLater(error.gid)
 * ```
 */
export function isUnavailable(error: unknown): error is UnavailableError {
  return isCounterstepError(error) && error.meaning === 'unavailable'
}

/**
 * Tells whether a wait ended before the transaction did.
 *
 * @example
 * ```ts
 * if (isNotFinal(error)) await client.wait(String(error.gid))
 * ```
 */
export function isNotFinal(error: unknown): error is NotFinalError {
  return isCounterstepError(error) && error.code === 'SAGA_NOT_FINAL'
}
