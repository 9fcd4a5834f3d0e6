import type { FastifyReply, FastifyRequest } from 'fastify'
import { findConnection, pauseReading } from './connection.ts'
import { isHttp2 } from './odd-request.ts'

/**
 * Makes the answer to this request the last one of its connection. Nothing more is read from it: neither the body of
 * this request nor others behind it.
 */
export function refuseConnection({ raw }: FastifyRequest, reply: FastifyReply): void {
  // A connection of HTTP/2 carries other streams, which go on.
  if (isHttp2(raw)) return
  const connection = findConnection(raw.socket)
  connection.isRefused = true
  pauseReading(connection)
  reply.header('connection', 'close')
}
