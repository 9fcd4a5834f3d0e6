import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { connectionOf } from './connection.ts'
import { isHttp2 } from './odd-request.ts'

/**
 * Makes the answer to this request the last one of its connection. What the caller still sends of the body is dropped
 * as it comes, and requests that it has sent behind this one are not looked at.
 */
export function refuseConnection({ raw }: FastifyRequest, reply: FastifyReply): void {
  // A connection of HTTP/2 carries other streams, too.
  if (isHttp2(raw)) return
  connectionOf(raw.socket).isRefused = true
  reply.header('connection', 'close')
  raw.resume()
}

type FrameworkErrorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void

/** Fastify calls no hook before it answers a URL that it cannot read, so such a request ends its connection. */
export function refuseAfterFrameworkErrors(handle: FrameworkErrorHandler): FrameworkErrorHandler {
  return function refuseRequest(error, request, reply) {
    if (connectionOf(request.raw.socket).isRefused) {
      reply.hijack()
      return
    }
    refuseConnection(request, reply)
    handle(error, request, reply)
  }
}
