import {
  type Answer,
  AnsweredError,
  isRefusal,
  type ReportError,
  toAnswer,
  toWellFormed,
} from '@counterstep/dtm/commands'
import { type ErrorCode, isCounterstepError } from '@counterstep/protocol'

/** These are the codes of gRPC that answers have. */
export const CODES = {
  OK: 0,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

export interface CallStatus {
  readonly code: number
  readonly details: string
}

/** A status goes over the wire as a header, in which a character may take nine bytes. */
const DETAILS_LENGTH_MAX = 2_048

/** DTM's clients read the first two. The others are gRPC's own for what HTTP says by these statuses. */
const CODE_OF_STATUS: Readonly<Record<number, number>> = {
  409: CODES.ABORTED,
  425: CODES.FAILED_PRECONDITION,
  400: CODES.INVALID_ARGUMENT,
  413: CODES.RESOURCE_EXHAUSTED,
  422: CODES.INVALID_ARGUMENT,
  501: CODES.UNIMPLEMENTED,
}

const CODE_OF_REFUSAL: Partial<Readonly<Record<ErrorCode, number>>> = {
  SAGA_UNAUTHENTICATED: CODES.UNAUTHENTICATED,
  SAGA_FORBIDDEN: CODES.PERMISSION_DENIED,
  SAGA_ORIGIN_REFUSED: CODES.PERMISSION_DENIED,
  SAGA_HOST_REFUSED: CODES.PERMISSION_DENIED,
}

/** Returns undefined for a success. */
export function toStatus({ status, body }: Answer, other: number = CODES.UNKNOWN): CallStatus | undefined {
  if (status === 200) return undefined
  const { message } = JSON.parse(body) as { readonly message?: string }
  return buildStatus(CODE_OF_STATUS[status] ?? other, message ?? '')
}

/** Tells a client of an error. DTM answers INTERNAL for what it has no answer of its own for, such as an unknown gid. */
export function toErrorStatus(error: unknown, report: ReportError): CallStatus {
  if (isCounterstepError(error)) {
    const text = `${error.code}: ${error.message}`
    if (isRefusal(error)) return buildStatus(CODE_OF_REFUSAL[error.code] ?? CODES.RESOURCE_EXHAUSTED, text)
    if (error.meaning === 'unavailable') return buildStatus(CODES.UNAVAILABLE, text)
  }
  const other = error instanceof AnsweredError ? CODES.INTERNAL : CODES.UNKNOWN
  return toStatus(toAnswer(error, report), other) ?? buildStatus(CODES.INTERNAL, '')
}

/** An unpaired surrogate cannot be written as a header. */
export function buildStatus(code: number, text: string): CallStatus {
  return { code, details: toWellFormed(text.slice(0, DETAILS_LENGTH_MAX)) }
}
