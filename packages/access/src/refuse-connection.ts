import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { connectionOf, pauseReading } from './connection.ts'
import { isHttp2 } from './odd-request.ts'

/**
 * Makes the answer to this request the last one of its connection. Nothing more is read from it: neither the body of
 * this request nor others behind it.
 */
export function refuseConnection({ raw }: FastifyRequest, reply: FastifyReply): void {
  // A connection of HTTP/2 carries other streams, too.
  if (isHttp2(raw)) return
  const connection = connectionOf(raw.socket)
  connection.isRefused = true
  pauseReading(connection)
  reply.header('connection', 'close')
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
