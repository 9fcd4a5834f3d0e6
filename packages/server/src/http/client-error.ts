import { ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { PROBLEM_TYPE, problemOf } from './problem.ts'

/** What node's HTTP parser refuses before there is a request: answered by hand, then the connection ends. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || owesAnotherAnswer(socket)) {
    socket.destroy()
    return
  }
  const problem = problemOfClientError(error.code)
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
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

function problemOfClientError(code: string | undefined) {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return problemOf('SAGA_HEADER_INVALID', { status: 431, detail: 'the request headers are too large' })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problemOf('SAGA_INVALID', { status: 408, detail: 'the request did not arrive in time' })
    default:
      return problemOf('SAGA_INVALID', { status: 400, detail: 'the request is not valid HTTP' })
  }
}
