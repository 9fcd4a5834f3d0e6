import type { Socket } from 'node:net'
import { readPendingAnswer } from './pending-answer.ts'

// `node:http` is not imported, because an import would load the built-in fetch as well, which takes 40 ms of every
// start.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Describes a request that Node's HTTP parser refuses, so that no handler sees it. */
export interface ClientFault {
  readonly status: 400 | 408 | 431
  readonly detail: string
}

/** Holds the answer to such a fault, in the form of one HTTP API. */
export interface FaultAnswer {
  readonly contentType: string
  readonly body: string
}

/** The last answer may take this long to leave. */
const END_MS_MAX = 1_000

export type ClientErrorHandler = (error: Error & { readonly code?: string }, socket: Socket) => void

/**
 * Answers such a fault by hand, then ends the connection. Fastify's own answer does not say that the connection ends,
 * so a client would send its next request into a closed one.
 */
export function answerClientErrors(write: (fault: ClientFault) => FaultAnswer): ClientErrorHandler {
  return function answerClientError(error, socket) {
    if (error.code === 'ECONNRESET' || !socket.writable || owesAnotherAnswer(socket)) {
      socket.destroy()
      return
    }
    const fault = toClientFault(error.code)
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

/**
 * Ends the socket, and destroys it if the caller does not close it in time. Otherwise a caller that neither reads nor
 * closes would keep its descriptor until the idle time-out.
 */
function endSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), END_MS_MAX).unref()
  socket.once('close', () => clearTimeout(timer))
  socket.destroySoon()
}

/** Tells whether an earlier request waits for its answer. The caller would then mistake these bytes for that answer. */
function owesAnotherAnswer(socket: Socket): boolean {
  const pending = readPendingAnswer(socket)
  return pending !== undefined && (pending.headersSent || pending.req.complete)
}

function toClientFault(code: string | undefined): ClientFault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, detail: 'the request headers are too large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, detail: 'the request did not arrive in time' }
    default:
      return { status: 400, detail: 'the request is not valid HTTP' }
  }
}
