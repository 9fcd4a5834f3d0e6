import { ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { JSON_TYPE, trouble } from '../wire/answer.ts'

/**
 * What node's HTTP parser refuses before there is a request. Fastify's own answer does not say that the connection
 * ends with it, so that a client sends its next request into a closed one.
 */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || owesAnotherAnswer(socket)) {
    socket.destroy()
    return
  }
  const { status, body } = answerOf(error.code)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** While an earlier request waits for its answer, these bytes would be taken for it. */
function owesAnotherAnswer(socket: Socket): boolean {
  const pending = '_httpMessage' in socket ? socket._httpMessage : undefined
  if (!(pending instanceof ServerResponse)) return false
  return pending.headersSent || pending.req.complete
}

function answerOf(code: string | undefined) {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return trouble('the request headers are too large', 431)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return trouble('the request did not arrive in time', 408)
    default:
      return trouble('the request is not valid HTTP', 400)
  }
}
