import type { Problem } from '@counterstep/protocol'
import type { FastifyReply } from 'fastify'
import { PROBLEM_TYPE } from './problem.ts'

export const RETRY_AFTER_SECONDS = 1
/**
 * It names Bearer alone, though the DTM dialect takes Basic too: otherwise a browser would keep a key and send it
 * unasked.
 */
export const CHALLENGE = 'Bearer realm="counterstep"'

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, code } = problem
  const isOver = status === 503 || status === 429 || code === 'SAGA_OP_BUSY'
  if (isOver && !reply.hasHeader('retry-after')) reply.header('retry-after', String(RETRY_AFTER_SECONDS))
  if (status === 401) reply.header('www-authenticate', CHALLENGE)
  return reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(problem))
}
