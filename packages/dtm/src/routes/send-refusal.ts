import type { CounterstepError, ErrorCode } from '@counterstep/protocol'
import type { FastifyReply } from 'fastify'
import { answerError } from '../wire/answer.ts'
import { sendAnswer } from './send-answer.ts'

/**
 * Authentication, quotas and the bounds of reads refuse a request with these statuses. DTM has no such answers, so they
 * are HTTP's usual ones. DTM's clients report the text of any of them.
 */
const STATUS_OF_REFUSAL: Partial<Readonly<Record<ErrorCode, number>>> = {
  SAGA_UNAUTHENTICATED: 401,
  SAGA_FORBIDDEN: 403,
  SAGA_ORIGIN_REFUSED: 403,
  SAGA_HOST_REFUSED: 421,
  SAGA_RATE_LIMITED: 429,
  SAGA_TOO_MANY_READS: 429,
  SAGA_QUOTA_EXCEEDED: 429,
}

/** Tells whether a request was refused for who asks, or for how much was asked, and not for what it says. */
export function isRefusal(error: CounterstepError): boolean {
  return STATUS_OF_REFUSAL[error.code] !== undefined
}

/** Returns false, and sends nothing, if the error is not one of these refusals. */
export function sendRefusal(reply: FastifyReply, { code, message }: CounterstepError): boolean {
  const status = STATUS_OF_REFUSAL[code]
  if (status === undefined) return false
  // The challenge does not offer Basic: a browser would ask for a key, keep it, and send it by itself.
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="counterstep"')
  if (status === 429 && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
  sendAnswer(reply, answerError(`${code}: ${message}`, status))
  return true
}
