import { isCounterstepError } from '@counterstep/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoSyntaxError } from '../go-json/scan-go-json.ts'
import { type Answer, AnsweredError, trouble } from '../wire/answer.ts'
import { sendAnswer } from './send-answer.ts'

export type ReportError = (error: unknown) => void

/** All that is no outcome of a transaction is 500, as in DTM: clients know no other. */
export function errorHandler(report: ReportError) {
  return function handleError(error: unknown, _request: FastifyRequest, reply: FastifyReply) {
    return sendAnswer(reply, answerTo(error, report))
  }
}

function answerTo(error: unknown, report: ReportError): Answer {
  if (error instanceof AnsweredError) return error.answer
  if (error instanceof GoSyntaxError || error instanceof GoTypeError) return trouble(error.message)
  if (isCounterstepError(error)) {
    if (error.meaning === 'bug') report(error)
    return trouble(`${error.code}: ${error.message}`)
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
