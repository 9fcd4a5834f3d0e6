import type { JsonValue } from '@counterstep/protocol'
import { BranchError, isBranchError, isBranchFailure, isBranchOngoing } from '../branch/branch-errors.ts'
import { isThenable } from './thenable.ts'

/**
 * Says how many bytes of JSON an answer may have: it is stored beside the effect, and the orchestrator keeps 1 KiB of it.
 *
 * @example
 * ```ts
 * const body = JSON.stringify(receipt)
 * if (Buffer.byteLength(body) > STORED_ANSWER_BYTES_MAX) return { receiptId: receipt.id }
 * ```
 */
export const STORED_ANSWER_BYTES_MAX = 16 * 1024

/** An answer without a body. A row with NULL has no answer at all, as the row of an original that is blocked. */
export const EMPTY_ANSWER = ''

/** An answer of a few parts, of which the maker has bounded each as an answer. So it has no bound as a whole. */
export class BoundedParts {
  readonly #parts: object

  constructor(parts: object) {
    this.#parts = parts
  }

  toJSON(): object {
    return this.#parts
  }
}

/**
 * Turns an answer into JSON text. It throws inside the database transaction, so that the effect is rolled back
 * together with an answer that cannot be kept. A `BranchFailure` or `BranchOngoing` that was returned counts as thrown.
 */
export function toAnswerText(value: unknown): string {
  if (value === undefined) return EMPTY_ANSWER
  if (isBranchFailure(value) || isBranchOngoing(value)) throw value
  if (value instanceof Error) throw toInvalid('an error that was returned and not thrown')
  if (isResponse(value)) throw toInvalid('a Response, of which JSON has neither status nor body')
  if (isQuery(value)) throw toInvalid('a query that was not run')
  const json = toJson(value)
  const bytes = Buffer.byteLength(json)
  if (bytes <= STORED_ANSWER_BYTES_MAX || value instanceof BoundedParts) return json
  const message = `the answer has ${bytes} bytes, more than ${STORED_ANSWER_BYTES_MAX}`
  throw new BranchError('BRANCH_ANSWER_TOO_LARGE', message)
}

/** Returns the value of a stored answer. It is undefined for an empty answer, and where there is none. */
export function readStoredAnswer(answer: string | null | undefined): JsonValue | undefined {
  return answer === null || answer === undefined || answer === EMPTY_ANSWER ? undefined : JSON.parse(answer)
}

function toJson(value: unknown): string {
  let json: string | undefined
  try {
    json = JSON.stringify(value, refusePromise)
  } catch (error: unknown) {
    if (isBranchError(error)) throw error
    throw new BranchError('BRANCH_ANSWER_INVALID', 'the answer is no JSON value', error)
  }
  if (json !== undefined) return json
  throw toInvalid(`a ${typeof value}, no JSON value`)
}

/** JSON writes a promise as {}, such as that of a statement whose await was forgotten. */
function refusePromise(_key: string, value: unknown): unknown {
  if (isThenable(value)) throw toInvalid('a promise that was not awaited')
  return value
}

function isResponse(value: unknown): boolean {
  return typeof Response === 'function' && value instanceof Response
}

/** A query of Kysely is no promise. It is run by its method, and JSON writes it as {}. */
function isQuery(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { execute, compile } = value as { readonly execute?: unknown; readonly compile?: unknown }
  return typeof execute === 'function' && typeof compile === 'function'
}

function toInvalid(is: string): BranchError {
  return new BranchError('BRANCH_ANSWER_INVALID', `the answer is ${is}`)
}
