import type { Socket } from 'node:net'
import { readPendingAnswer } from './pending-answer.ts'

// Not imported: that would load the built-in fetch as well, 40 ms of every start.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** What node's HTTP parser refuses before there is a request. */
export interface ClientFault {
  readonly status: 400 | 408 | 431
  readonly detail: string
}

/** As one face writes it. */
export interface FaultAnswer {
  readonly contentType: string
  readonly body: string
}

/** How long the last answer may take to leave. */
const END_MS_MAX = 1_000

export type ClientErrorHandler = (error: Error & { readonly code?: string }, socket: Socket) => void

/**
 * Answers such a fault by hand, then ends the connection. Fastify's own answer does not say that it ends, so that a
 * client sends its next request into a closed one.
 */
export function answerClientErrors(write: (fault: ClientFault) => FaultAnswer): ClientErrorHandler {
  return function answerClientError(error, socket) {
    if (error.code === 'ECONNRESET' || !socket.writable || owesAnotherAnswer(socket)) {
      socket.destroy()
      return
    }
    const fault = faultOf(error.code)
    const { contentType, body } = write(fault)
    const head = [
      `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`,
      `Content-Type: ${contentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
    endSoon(socket)
  }
}

/** A caller that neither reads nor closes would keep its descriptor until the idle time-out. */
function endSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), END_MS_MAX).unref()
  socket.once('close', () => clearTimeout(timer))
  socket.destroySoon()
}

/** While an earlier request waits for its answer, these bytes would be taken for it. */
function owesAnotherAnswer(socket: Socket): boolean {
  const pending = readPendingAnswer(socket)
  return pending !== undefined && (pending.headersSent || pending.req.complete)
}

function faultOf(code: string | undefined): ClientFault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, detail: 'the request headers are too large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, detail: 'the request did not arrive in time' }
    default:
      return { status: 400, detail: 'the request is not valid HTTP' }
  }
}
