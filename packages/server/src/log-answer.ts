import type { Logger } from '@counterstep/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** One line for each answer: the route's pattern instead of the path, and nothing that the caller wrote. */
export function logAnswer(
  logger: Logger,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return function writeAnswer(request, reply, done) {
    const { id: requestId, method, routeOptions } = request
    const ms = Math.round(reply.elapsedTime * 10) / 10
    logger.info({ requestId, method, route: routeOptions.url, status: reply.statusCode, ms }, 'answered')
    done()
  }
}
