/**
 * Every error has exactly one of four meanings.
 *
 * - `failure`: The request is refused for good, and nothing was or will be done.
 * - `ongoing`: The outcome is not there yet, and the caller should ask again.
 * - `unavailable`: The infrastructure failed, and the caller should back off and retry.
 * - `bug`: An assertion failed, and this attempt must stop.
 */
export type ErrorMeaning = 'failure' | 'ongoing' | 'unavailable' | 'bug'

/**
 * Lists every code that a caller may see. Codes are stable, and texts are not. `docs/errors.md` explains each code. The
 * text of an error stands where the error is made: search for its code.
 */
export const ERROR_MEANINGS = {
  SAGA_MALFORMED_JSON: 'failure',
  SAGA_UNSUPPORTED_MEDIA_TYPE: 'failure',
  SAGA_BODY_TOO_LARGE: 'failure',
  SAGA_INVALID: 'failure',
  SAGA_UNKNOWN_FIELD: 'failure',
  SAGA_KIND_UNSUPPORTED: 'failure',
  SAGA_GID_INVALID: 'failure',
  SAGA_NAME_INVALID: 'failure',
  SAGA_TAG_INVALID: 'failure',
  SAGA_NO_BRANCHES: 'failure',
  SAGA_TOO_MANY_BRANCHES: 'failure',
  SAGA_BRANCH_ID_INVALID: 'failure',
  SAGA_BRANCH_ID_DUPLICATE: 'failure',
  SAGA_AFTER_UNKNOWN: 'failure',
  SAGA_AFTER_CYCLE: 'failure',
  SAGA_URL_INVALID: 'failure',
  SAGA_TARGET_NOT_ALLOWED: 'failure',
  SAGA_HEADER_INVALID: 'failure',
  SAGA_PAYLOAD_TOO_LARGE: 'failure',
  SAGA_PAYLOAD_TOO_DEEP: 'failure',
  SAGA_NUMBER_NOT_EXACT: 'failure',
  SAGA_RETRY_INVALID: 'failure',
  SAGA_TIMEOUT_INVALID: 'failure',
  SAGA_DEADLINE_INVALID: 'failure',
  SAGA_DELAY_INVALID: 'failure',
  SAGA_CHECKPOINT_INVALID: 'failure',
  SAGA_ACK_INVALID: 'failure',
  SAGA_REFERENCE_INVALID: 'failure',
  SAGA_REFERENCE_UNKNOWN: 'failure',
  SAGA_REFERENCE_NOT_BEFORE: 'failure',
  SAGA_REFERENCE_NEEDS_ELSE: 'failure',
  SAGA_WAIT_INVALID: 'failure',
  SAGA_ROLE_INVALID: 'failure',
  SAGA_WORKFLOW_INVALID: 'failure',
  SAGA_SIGNAL_INVALID: 'failure',
  SAGA_QUERY_INVALID: 'failure',
  SAGA_ROUTE_UNKNOWN: 'failure',
  SAGA_METHOD_NOT_ALLOWED: 'failure',
  SAGA_UNAUTHENTICATED: 'failure',
  SAGA_FORBIDDEN: 'failure',
  SAGA_ORIGIN_REFUSED: 'failure',
  SAGA_HOST_REFUSED: 'failure',
  SAGA_UNKNOWN_GID: 'failure',
  SAGA_GID_CONFLICT: 'failure',
  SAGA_ALREADY_FINAL: 'failure',
  SAGA_NOT_PREPARED: 'failure',
  SAGA_WRONG_KIND: 'failure',
  SAGA_BRANCH_CONFLICT: 'failure',
  SAGA_SIGNAL_UNKNOWN: 'failure',
  SAGA_SIGNAL_CONFLICT: 'failure',
  SAGA_TOO_MANY_SIGNALS: 'failure',
  SAGA_TURNED_AROUND: 'failure',
  SAGA_NO_RETURN: 'failure',
  SAGA_PAUSED: 'failure',
  SAGA_REASON_REQUIRED: 'failure',
  SAGA_OP_UNKNOWN: 'failure',
  SAGA_OP_DONE: 'failure',
  SAGA_OP_NOT_DUE: 'failure',
  SAGA_CONFIRMATION_REQUIRED: 'failure',
  SAGA_PLAN_CHANGED: 'failure',
  SAGA_TRAIL_FULL: 'failure',
  SAGA_COMMAND_CONFLICT: 'failure',
  SAGA_EDITS_TOO_LARGE: 'failure',
  SAGA_BULK_INVALID: 'failure',
  SAGA_UNKNOWN_JOB: 'failure',
  SAGA_JOB_ENDED: 'failure',
  SAGA_TOO_MANY_JOBS: 'ongoing',
  SAGA_UNKNOWN_PANEL: 'failure',
  SAGA_VIEW_INVALID: 'failure',
  SAGA_UNKNOWN_VIEW: 'failure',
  SAGA_TOO_MANY_VIEWS: 'failure',
  SAGA_RATE_LIMITED: 'unavailable',
  SAGA_TOO_MANY_READS: 'unavailable',
  SAGA_TOO_MANY_STREAMS: 'unavailable',
  SAGA_QUOTA_EXCEEDED: 'unavailable',
  SAGA_OVER_CAPACITY: 'unavailable',
  SAGA_TARGET_OVER_CAPACITY: 'unavailable',
  SAGA_STOPPING: 'unavailable',
  SAGA_NOT_ACCEPTED: 'unavailable',
  SAGA_OUTCOME_UNKNOWN: 'unavailable',
  SAGA_STORE_UNAVAILABLE: 'unavailable',
  SAGA_STORE_CLOSED: 'unavailable',
  SAGA_STORE_FULL: 'unavailable',
  SAGA_STORE_IN_USE: 'unavailable',
  SAGA_STORE_NOT_DURABLE: 'unavailable',
  SAGA_STORE_SCHEMA: 'unavailable',
  SAGA_STORE_UNSUPPORTED: 'unavailable',
  SAGA_KEYS_UNUSABLE: 'unavailable',
  SAGA_LIBRARY_CHANGED: 'bug',
  SAGA_GRPC_MISSING: 'unavailable',
  SAGA_TELEMETRY_MISSING: 'unavailable',
  SAGA_CONTENDED: 'unavailable',
  SAGA_UNREACHABLE: 'unavailable',
  SAGA_ANSWER_TOO_LARGE: 'unavailable',
  SAGA_NOT_FINAL: 'ongoing',
  SAGA_OP_BUSY: 'ongoing',
  SAGA_INTERNAL: 'bug',
} as const satisfies Record<string, ErrorMeaning>

export type ErrorCode = keyof typeof ERROR_MEANINGS

/** Describes one fault of a request: its code, the JSON pointer of the place, and a text for people. */
export interface Fault {
  readonly code: ErrorCode
  /**
   * It is a JSON pointer (RFC 6901) into the request body, which is empty for the whole body, or the name of a header
   * or of a query parameter.
   */
  readonly path: string
  readonly message: string
}

/** This is the base class of every error that Counterstep throws on purpose. Callers decide by its `code`. */
export class CounterstepError extends Error {
  readonly code: ErrorCode
  readonly meaning: ErrorMeaning

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'CounterstepError'
    this.code = code
    this.meaning = ERROR_MEANINGS[code]
  }
}

/** A request was refused as a whole, and nothing was stored. `code` is the code of the first fault. */
export class InvalidRequestError extends CounterstepError {
  readonly faults: readonly Fault[]

  constructor(faults: readonly [Fault, ...Fault[]]) {
    super(faults[0].code, faults[0].message)
    this.name = 'InvalidRequestError'
    this.faults = faults
  }
}

/** Reads the code and not the prototype chain, because the error may come from another copy of this package. */
export function isCounterstepError(error: unknown): error is CounterstepError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    Object.hasOwn(ERROR_MEANINGS, error.code)
  )
}
