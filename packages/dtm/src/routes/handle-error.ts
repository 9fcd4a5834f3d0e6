import { type ErrorCode, isCounterstepError } from '@counterstep/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoDepthError, GoSyntaxError } from '../go-json/scan-go-json.ts'
import { type Answer, AnsweredError, trouble } from '../wire/answer.ts'
import { sendAnswer } from './send-answer.ts'
import { sendRefusal } from './send-refusal.ts'

/** Bounds that the engine holds, since they are of all branches of a transaction together. */
const OVER_CODES: ReadonlySet<ErrorCode> = new Set(['SAGA_TOO_MANY_BRANCHES', 'SAGA_PAYLOAD_TOO_LARGE'])
const OVER_STATUS = 422

export type ReportError = (error: unknown) => void

/** All that is no outcome of a transaction is 500, as in DTM: clients know no other. */
export function errorHandler(report: ReportError) {
  return function handleError(error: unknown, _request: FastifyRequest, reply: FastifyReply) {
    if (isCounterstepError(error) && sendRefusal(reply, error)) return reply
    return sendAnswer(reply, answerTo(error, report))
  }
}

function answerTo(error: unknown, report: ReportError): Answer {
  if (error instanceof AnsweredError) return error.answer
  if (error instanceof GoDepthError) return trouble(error.message, OVER_STATUS)
  if (error instanceof GoSyntaxError || error instanceof GoTypeError) return trouble(error.message)
  if (isCounterstepError(error)) {
    if (error.meaning === 'bug') report(error)
    return trouble(`${error.code}: ${error.message}`, OVER_CODES.has(error.code) ? OVER_STATUS : 500)
  }
  // Fastify's own, such as a body that is too large.
  if (isClientError(error)) return trouble(error.message, error.statusCode)
  report(error)
  return trouble('internal error')
}

function isClientError(error: unknown): error is FastifyError & { readonly statusCode: number } {
  if (!(error instanceof Error) || !('statusCode' in error)) return false
  return typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
}
