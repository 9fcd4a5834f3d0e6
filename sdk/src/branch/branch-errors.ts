import type { ErrorMeaning, JsonValue } from '@counterstep/protocol'

/**
 * Every code that a branch of this SDK answers on its own account, with its meaning and the HTTP status that carries
 * it. The orchestrator acts only on the statuses 200, 409 and 425. Every other status counts as unknown, for
 * Counterstep and for DTM, and the call is asked again.
 *
 * No code contains a word that DTM looks for in the text of an answer.
 *
 * @example
 * ```ts
 * const alerting = Object.entries(BRANCH_CODES).filter(([, { meaning }]) => meaning === 'bug')
 * ```
 */
export const BRANCH_CODES = {
  /** This is a business failure that named no code of its own. */
  BRANCH_FAILED: { meaning: 'failure', statusCode: 409 },
  /** The action came after its compensation, or after a refusal of its own that was kept without its code: the transaction has turned around. */
  ALREADY_COMPENSATED: { meaning: 'failure', statusCode: 409 },
  /**
   * The gid was used before: a row of a transaction that was accepted at least a day earlier stands. Nothing was
   * done.
   */
  GID_REUSED: { meaning: 'failure', statusCode: 409 },
  /**
   * The handler serves other ops (`ops`): the branch's URLs are mixed up, or the call is not meant for this route.
   * Nothing was done.
   */
  BRANCH_OP_NOT_SERVED: { meaning: 'failure', statusCode: 409 },
  /** The answer to a query-back: the local transaction of the message has not committed, and never will. */
  MESSAGE_ROLLED_BACK: { meaning: 'failure', statusCode: 409 },
  BRANCH_NOT_YET: { meaning: 'ongoing', statusCode: 425 },
  /** The query or a header is not that of a branch call: the URL is wrong, or the caller is not an orchestrator. */
  BRANCH_CALL_INVALID: { meaning: 'bug', statusCode: 400 },
  /** This version does not serve the kind of transaction, or the op. */
  BRANCH_KIND_UNSUPPORTED: { meaning: 'bug', statusCode: 400 },
  /** `parse` refused the payload. */
  BRANCH_PAYLOAD_INVALID: { meaning: 'bug', statusCode: 422 },
  /** `signedCalls`: the call has no signature. */
  BRANCH_UNSIGNED: { meaning: 'bug', statusCode: 401 },
  /** `signedCalls`: the signature does not fit the call, or covers too little of it. */
  BRANCH_SIGNATURE_INVALID: { meaning: 'bug', statusCode: 401 },
  /** `signedCalls`: the signature is by a key that this service has not. */
  BRANCH_SIGNATURE_KEY_UNKNOWN: { meaning: 'bug', statusCode: 401 },
  /** `signedCalls`: the signature is too old, or its time is in the future. */
  BRANCH_SIGNATURE_EXPIRED: { meaning: 'unavailable', statusCode: 401 },
  /** `signedCalls` with `callsRememberedMax`: this very call came before. */
  BRANCH_SIGNATURE_REPLAYED: { meaning: 'unavailable', statusCode: 401 },
  /** `signedCalls` with `callsRememberedMax`: there is no room to remember this call. Nothing was done. */
  BRANCH_MEMORY_FULL: { meaning: 'unavailable', statusCode: 503 },
  /** Express: the call has a body, and no `express.json()` has parsed it. Nothing was done. */
  BRANCH_BODY_UNPARSED: { meaning: 'bug', statusCode: 500 },
  /**
   * `signedCalls` of Express, or `fetchHandler`: other code has read the body, so its bytes cannot be read any more.
   */
  BRANCH_BODY_NOT_RAW: { meaning: 'bug', statusCode: 500 },
  /** The handler returned a value that JSON cannot hold. */
  BRANCH_ANSWER_INVALID: { meaning: 'bug', statusCode: 500 },
  /** The answer is longer than STORED_ANSWER_BYTES_MAX. */
  BRANCH_ANSWER_TOO_LARGE: { meaning: 'bug', statusCode: 500 },
  /** The handler or its database threw another error. */
  BRANCH_ERROR: { meaning: 'unavailable', statusCode: 500 },
  /** The call is older than the barrier's rows, so it cannot be known any more whether it has run. */
  BARRIER_EXPIRED: { meaning: 'unavailable', statusCode: 500 },
  /** The action was answered with success, and this undo finds no row of it: the row was lost, or stands in another table. */
  BARRIER_ORIGINAL_MISSING: { meaning: 'unavailable', statusCode: 500 },
  /** An older transaction of the same gid has made the row of this undo, which can run when that row is purged. */
  BARRIER_UNDO_IN_THE_WAY: { meaning: 'unavailable', statusCode: 500 },
  /** The call met deadlocks or waits for locks again and again. */
  BARRIER_CONTENDED: { meaning: 'unavailable', statusCode: 500 },
  /** The call took longer than the barrier's `timeoutMs`, or its `signal` aborted; its connection was destroyed before any COMMIT. */
  BARRIER_TIMED_OUT: { meaning: 'unavailable', statusCode: 500 },
  /** The connection broke during COMMIT. The next call finds out by the row. */
  BARRIER_COMMIT_UNKNOWN: { meaning: 'unavailable', statusCode: 500 },
  /**
   * The database transaction ended while the handler ran: an error was swallowed, or the handler sent a COMMIT or a
   * statement that commits.
   */
  BARRIER_TRANSACTION_LOST: { meaning: 'bug', statusCode: 500 },
  /**
   * A handler sent a statement that would begin or end the barrier's transaction on the connection that it was given. The statement was
   * not sent.
   */
  BARRIER_STATEMENT_REFUSED: { meaning: 'bug', statusCode: 500 },
  /** A handler of the SQLite barrier returned a promise. */
  BARRIER_EFFECT_ASYNC: { meaning: 'bug', statusCode: 500 },
  /** A Redis effect broke off inside its script. */
  BARRIER_EFFECT_BROKEN: { meaning: 'bug', statusCode: 500 },
  /** Keys of a Redis effect are not in the barrier's hash slot. */
  BARRIER_KEYS_APART: { meaning: 'bug', statusCode: 500 },
  /** The local transaction of a message has committed before; this one was rolled back. */
  MESSAGE_DUPLICATED: { meaning: 'bug', statusCode: 500 },
  /** The local transaction came after the query-back that it should have come before; it was rolled back. */
  MESSAGE_REFUSED: { meaning: 'unavailable', statusCode: 500 },
  /** Too many calls of this key wait already at a grouped branch. Nothing was done. */
  BRANCH_QUEUE_FULL: { meaning: 'unavailable', statusCode: 503 },
  /** A grouped branch: `apply` did not return one result for each call. */
  BRANCH_RESULTS_INVALID: { meaning: 'bug', statusCode: 500 },
  /** A workflow's handler got a body that is no plan call, and no call of a step. Nothing was done. */
  WORKFLOW_CALL_INVALID: { meaning: 'bug', statusCode: 400 },
  /** The function of a workflow, or one of its local steps, threw another error. */
  STEP_ERROR: { meaning: 'unavailable', statusCode: 500 },
  /** The workflow, this version of it, or its step of this name is not deployed here. Nothing was done. */
  STEP_UNKNOWN: { meaning: 'bug', statusCode: 500 },
  /** The barrier's row of this step's slot has another step's name: other code ran it. Nothing was done. */
  SLOT_TAKEN: { meaning: 'bug', statusCode: 500 },
  /** At start: the table, its types, its engine or the isolation would not keep what the barrier promises. */
  BARRIER_MISCONFIGURED: { meaning: 'bug', statusCode: 500 },
} as const satisfies Record<string, { readonly meaning: ErrorMeaning; readonly statusCode: number }>

/**
 * This is a code from {@link BRANCH_CODES}. Codes are stable, texts are not.
 *
 * @example
 * ```ts
 * const retriedForEver: BranchErrorCode = 'BARRIER_EXPIRED'
 * ```
 */
export type BranchErrorCode = keyof typeof BRANCH_CODES

/**
 * The codes that are no answer of the business. An error with such a code is neither a BranchFailure nor a
 * BranchOngoing.
 */
type FaultCode = {
  [Code in BranchErrorCode]: (typeof BRANCH_CODES)[Code]['meaning'] extends 'bug' | 'unavailable'
    ? Code
    : never
}[BranchErrorCode]

/**
 * The business says no, for good: nothing was done, and the transaction turns around. A handler throws it, and the answer
 * is 409. The database transaction rolls back together with the barrier's row, so a duplicate asks the business again, unless a barrier keeps the refusal because nothing undoes the action.
 *
 * Never throw it for a database error or a timeout, because these say nothing about the business.
 *
 * If JSON cannot hold the `details` (a BigInt, a cycle), they are left out of the answer, and `detailsLost` says why.
 * The status is 409 all the same, because the business has said no, and after an error it would be asked again for
 * ever.
 *
 * @example
 * ```ts
 * if (account.cents < cents) throw new BranchFailure('not enough money', { code: 'INSUFFICIENT_FUNDS' })
 * ```
 */
export class BranchFailure extends Error {
  /** This field tells a failure from other errors, even if two copies of this package are loaded. */
  readonly branchResult = 'failure'
  /** The default is `BRANCH_FAILED`. */
  readonly code: string
  readonly details?: JsonValue

  constructor(
    message: string,
    options: { readonly code?: string; readonly details?: JsonValue; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'BranchFailure'
    this.code = options.code ?? 'BRANCH_FAILED'
    if (options.details !== undefined) this.details = options.details
  }
}

/**
 * The branch is not done yet, and has to be asked again later. A handler throws it, and the answer is 425. The database
 * transaction rolls back as after a failure, and no row stays: an undo that comes then has nothing to undo. So begin nothing
 * outside of the transaction that this would leave behind, and wait for work in a branch of its own that only looks.
 *
 * @example
 * ```ts
 * if (booking.status === 'pending') throw new BranchOngoing({ retryAfterMs: 5_000 })
 * ```
 */
export class BranchOngoing extends Error {
  readonly branchResult = 'ongoing'
  readonly code = 'BRANCH_NOT_YET'
  /** It is sent as Retry-After, rounded up to whole seconds. */
  readonly retryAfterMs?: number

  constructor(options: { readonly retryAfterMs?: number; readonly message?: string } = {}) {
    super(options.message ?? 'not yet')
    const { retryAfterMs } = options
    if (retryAfterMs !== undefined && !(Number.isFinite(retryAfterMs) && retryAfterMs >= 0)) {
      throw new TypeError('retryAfterMs must be a finite number of milliseconds, 0 or more')
    }
    this.name = 'BranchOngoing'
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/**
 * Something keeps the business from answering. Such an error never counts as success or as failure, and the
 * orchestrator asks again. `cause` holds what was thrown. Throws a TypeError for a code that means failure or ongoing.
 *
 * @example
 * ```ts
 * if (isBranchError(error) && error.code === 'BARRIER_EXPIRED') alert(`replayed too late: ${error.message}`)
 * ```
 */
export class BranchError extends Error {
  readonly code: FaultCode
  readonly meaning: ErrorMeaning
  /** Read by Express's default error handler. */
  readonly status: number
  /** Read by Fastify's default error handler. */
  readonly statusCode: number

  constructor(code: FaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    if (!isFaultCode(code)) throw new TypeError(`${code} is thrown as a BranchFailure or a BranchOngoing`)
    const { meaning, statusCode } = BRANCH_CODES[code]
    this.name = 'BranchError'
    this.code = code
    this.meaning = meaning
    this.status = statusCode
    this.statusCode = statusCode
  }
}

/**
 * Tells whether an error is a business failure.
 *
 * @example
 * ```ts
 * if (isBranchFailure(error)) return Response.json({ code: error.code }, { status: 409 })
 * ```
 */
export function isBranchFailure(error: unknown): error is BranchFailure {
  return error instanceof Error && 'branchResult' in error && error.branchResult === 'failure'
}

/**
 * Tells whether an error says that the branch is not done yet.
 *
 * @example
 * ```ts
 * if (isBranchOngoing(error)) return new Response(null, { status: 425 })
 * ```
 */
export function isBranchOngoing(error: unknown): error is BranchOngoing {
  return error instanceof Error && 'branchResult' in error && error.branchResult === 'ongoing'
}

/**
 * Tells whether an error is one of this SDK's barriers and branches, with a code from {@link BRANCH_CODES}. Never
 * true for a failure or an ongoing: see {@link isBranchFailure} and {@link isBranchOngoing}.
 *
 * @example
 * ```ts
 * if (isBranchError(error)) metrics.count(error.code)
 * ```
 */
export function isBranchError(error: unknown): error is BranchError {
  return error instanceof Error && error.name === 'BranchError' && 'code' in error && isFaultCode(error.code)
}

function isFaultCode(code: unknown): code is FaultCode {
  if (typeof code !== 'string' || !Object.hasOwn(BRANCH_CODES, code)) return false
  const { meaning } = BRANCH_CODES[code as BranchErrorCode]
  return meaning === 'bug' || meaning === 'unavailable'
}
