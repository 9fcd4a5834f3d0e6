import type { Fault } from '@counterstep/protocol'
import { CounterstepError, RefusedError, UnavailableError } from './errors.ts'
import type { AnswerTooLargeError } from './transport/answer-bytes.ts'

/** An answer of a server, or of a proxy before it, that is not 2xx. */
export interface BadAnswer {
  readonly status: number
  /** The body, if it was JSON. */
  readonly value: unknown
  readonly retryAfter: string | null
  /** The gid of the request, for an answer that does not name it. */
  readonly gid?: string | undefined
}

/**
 * Makes the error for an answer that is not 2xx. If the answer has no code of ours, it is not from our server, but from
 * a proxy, or the URL is wrong.
 */
export function toProblemError({ status, value, retryAfter, gid: askedGid }: BadAnswer): CounterstepError {
  const problem = isRecord(value) ? value : {}
  const gid = typeof problem.gid === 'string' ? problem.gid : askedGid
  const detail = typeof problem.detail === 'string' ? problem.detail : `the answer was ${status}`
  if (typeof problem.code !== 'string' || !problem.code.startsWith('SAGA_')) {
    const message = `the answer was ${status}, not from a Counterstep server`
    return new UnavailableError('SAGA_UNREACHABLE', message, { status, gid })
  }
  if (askedGid !== undefined && gid !== askedGid) {
    const message = `the answer was ${status}, about another transaction`
    return new UnavailableError('SAGA_UNREACHABLE', message, { status, gid: askedGid })
  }
  if (status === 503 || status === 429) {
    const retryAfterMs = readSeconds(retryAfter)
    return new UnavailableError(problem.code, detail, { status, retryAfterMs, gid })
  }
  if (status >= 500) return new CounterstepError(problem.code, detail, { meaning: 'bug', gid })
  const faults = readFaults(problem.faults)
  return new RefusedError(problem.code, withPath(detail, faults[0]), { status, faults, gid })
}

/**
 * Makes the error for an answer that is too long. The request may have been carried out. With a status below 500 it
 * is not sent again, because the same answer would come.
 */
export function toAnswerTooLargeError(
  { message, status }: AnswerTooLargeError,
  origin: string,
  gid: string | undefined,
): UnavailableError {
  const text = `${message}, from ${origin}: see answerBytesMax`
  return new UnavailableError('SAGA_ANSWER_TOO_LARGE', text, { status, gid })
}

/** The server gives the message of the first fault alone, which says nothing about where the fault is. */
function withPath(detail: string, fault: Fault | undefined): string {
  return fault === undefined || fault.path === '' || fault.message !== detail
    ? detail
    : `${fault.path}: ${detail}`
}

function readSeconds(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
}

function readFaults(value: unknown): readonly Fault[] {
  return Array.isArray(value) ? value.filter(isFault) : []
}

function isFault(value: unknown): value is Fault {
  return (
    isRecord(value) &&
    typeof value.code === 'string' &&
    typeof value.path === 'string' &&
    typeof value.message === 'string'
  )
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
