import type { FastifyReply } from 'fastify'
import { type Answer, JSON_TYPE } from '../wire/answer.ts'

export function sendAnswer(
  reply: FastifyReply,
  { status, body, contentType = JSON_TYPE }: Answer,
): FastifyReply {
  return reply.code(status).header('content-type', contentType).send(body)
}
