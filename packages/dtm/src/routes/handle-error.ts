import { type ErrorCode, isCounterstepError } from '@counterstep/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoBoundError, GoSyntaxError } from '../go-json/scan-go-json.ts'
import { type Answer, AnsweredError, answerError } from '../wire/answer.ts'
import { sendAnswer } from './send-answer.ts'
import { sendRefusal } from './send-refusal.ts'

/** The engine checks these bounds, since they concern all branches of a transaction together. */
const OVER_CODES: ReadonlySet<ErrorCode> = new Set(['SAGA_TOO_MANY_BRANCHES', 'SAGA_PAYLOAD_TOO_LARGE'])
const OVER_STATUS = 422

export type ReportError = (error: unknown) => void

/** Answers 500 to most errors, as DTM does, since its clients know no other status for an error. */
export function createErrorHandler(report: ReportError) {
  return function handleError(error: unknown, _request: FastifyRequest, reply: FastifyReply) {
    if (isCounterstepError(error) && sendRefusal(reply, error)) return reply
    return sendAnswer(reply, toAnswer(error, report))
  }
}

/** Tells a client of an error. Errors that are bugs are reported. */
export function toAnswer(error: unknown, report: ReportError): Answer {
  if (error instanceof AnsweredError) return error.answer
  if (error instanceof GoBoundError) return answerError(error.message, OVER_STATUS)
  if (error instanceof GoSyntaxError || error instanceof GoTypeError) return answerError(error.message)
  if (isCounterstepError(error)) {
    if (error.meaning === 'bug') report(error)
    return answerError(`${error.code}: ${error.message}`, OVER_CODES.has(error.code) ? OVER_STATUS : 500)
  }
  // Fastify has raised this error, for example because the body is too large.
  if (isClientError(error)) return answerError(error.message, error.statusCode)
  report(error)
  return answerError('internal error')
}

function isClientError(error: unknown): error is FastifyError & { readonly statusCode: number } {
  if (!(error instanceof Error) || !('statusCode' in error)) return false
  return typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
}
