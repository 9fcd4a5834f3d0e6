import type { Logger } from '@counterstep/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Logs one line for each answer, with the route's pattern instead of the path, and without anything the caller wrote.
 */
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
