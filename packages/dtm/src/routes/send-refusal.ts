import type { CounterstepError, ErrorCode } from '@counterstep/protocol'
import type { FastifyReply } from 'fastify'
import { trouble } from '../wire/answer.ts'
import { sendAnswer } from './send-answer.ts'

/** The gate, the quotas and the bounds of readers refuse with these. DTM has no such answers, so these are HTTP's own; its clients report the text of any of them. */
const STATUS_OF_REFUSAL: Partial<Readonly<Record<ErrorCode, number>>> = {
  SAGA_UNAUTHENTICATED: 401,
  SAGA_FORBIDDEN: 403,
  SAGA_ORIGIN_REFUSED: 403,
  SAGA_HOST_REFUSED: 421,
  SAGA_RATE_LIMITED: 429,
  SAGA_TOO_MANY_READS: 429,
  SAGA_QUOTA_EXCEEDED: 429,
}

/** False: this is no such refusal. */
export function sendRefusal(reply: FastifyReply, { code, message }: CounterstepError): boolean {
  const status = STATUS_OF_REFUSAL[code]
  if (status === undefined) return false
  // No Basic here: a browser would ask for a key, keep it, and send it by itself.
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="counterstep"')
  if (status === 429 && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
  sendAnswer(reply, trouble(`${code}: ${message}`, status))
  return true
}
