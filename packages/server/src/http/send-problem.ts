import type { Problem } from '@counterstep/protocol'
import type { FastifyReply } from 'fastify'
import { PROBLEM_TYPE } from './problem.ts'

export const RETRY_AFTER_SECONDS = 1

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 503) reply.header('retry-after', String(RETRY_AFTER_SECONDS))
  return reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(problem))
}
