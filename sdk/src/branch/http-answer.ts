import type { BarrierOutcome } from '../barrier/barrier.ts'
import {
  BRANCH_CODES,
  BranchError,
  type BranchFailure,
  isBranchError,
  isBranchFailure,
  isBranchOngoing,
} from './branch-errors.ts'

/**
 * An answer to a branch call, for a framework that has no `branchHandler` here.
 *
 * @example
 * ```ts
 * const { answer } = await answerBranch(barrier, handler, branchRequest)
 * return new Response(answer.body, { status: answer.statusCode, headers: answer.headers })
 * ```
 */
export interface HttpAnswer {
  /** It is 200, 409 or 425. A call that is answered 400, 422 or 500 is sent again. */
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  /** It is JSON, and absent for an empty body. */
  readonly body?: string
}

// DTM searches the whole text of an answer for these, whatever the status: a customer called FAILURE would undo a
// transaction that succeeded.
const DTM_WORDS = /FAILURE|ONGOING/g
const RETRY_AFTER_SECONDS_MAX = 86_400

export function toOutcomeAnswer(outcome: BarrierOutcome): HttpAnswer {
  return buildJsonAnswer(200, outcome.answer, { 'counterstep-barrier': outcome.decision })
}

/**
 * Makes the answer to an error that was thrown. For an error that is neither a BranchFailure nor a BranchOngoing, the
 * answer tells only the code.
 */
export function toErrorAnswer(error: unknown): HttpAnswer {
  if (isBranchFailure(error)) return buildJsonAnswer(409, toFailureJson(error))
  if (isBranchOngoing(error)) {
    return buildJsonAnswer(425, JSON.stringify({ code: 'BRANCH_NOT_YET' }), retryAfter(error.retryAfterMs))
  }
  const { code, statusCode, message } = asBranchError(error)
  // A caller has to know what is wrong with its call. An error with status 500 is the service's own, so the caller gets
  // no message.
  return buildJsonAnswer(statusCode, JSON.stringify(statusCode < 500 ? { code, message } : { code }))
}

/**
 * Turns any error into one of this package before a framework sees it, because the framework might read a status out of
 * a foreign error (409 of an HTTP client's, for example). An error that comes from another copy of this package gets
 * the status that its code has in this copy.
 */
export function asBranchError(error: unknown): BranchError {
  if (!isBranchError(error)) {
    return new BranchError('BRANCH_ERROR', 'the branch call threw; see the cause', error)
  }
  const { code, message, status, statusCode } = error
  const isOwn = status === BRANCH_CODES[code].statusCode && statusCode === status
  return isOwn ? error : new BranchError(code, message, error)
}

/** This function never throws, because the business has said no, and a fault in the details must not hide that. */
function toFailureJson({ code, message, details }: BranchFailure): string {
  const said = { code: String(code), message: String(message) }
  if (details === undefined) return JSON.stringify(said)
  try {
    if (JSON.stringify(details) !== undefined) return JSON.stringify({ ...said, details })
    return JSON.stringify({ ...said, detailsLost: `the details are a ${typeof details}, no JSON value` })
  } catch (error: unknown) {
    const why = error instanceof Error ? `: ${error.message}` : ''
    return JSON.stringify({ ...said, detailsLost: `the details are no JSON value${why}` })
  }
}

function retryAfter(retryAfterMs: unknown): Readonly<Record<string, string>> {
  if (typeof retryAfterMs !== 'number' || !Number.isFinite(retryAfterMs)) return {}
  return { 'retry-after': String(Math.min(Math.ceil(retryAfterMs / 1000), RETRY_AFTER_SECONDS_MAX)) }
}

export function buildJsonAnswer(
  statusCode: number,
  json: string | undefined,
  more: Readonly<Record<string, string>> = {},
): HttpAnswer {
  if (json === undefined) return { statusCode, headers: more }
  // In JSON these words can stand only inside a string, and there an escape has the same meaning.
  const body = json.replace(DTM_WORDS, (word) => `\\u00${word.charCodeAt(0).toString(16)}${word.slice(1)}`)
  return { statusCode, headers: { ...more, 'content-type': 'application/json; charset=utf-8' }, body }
}
