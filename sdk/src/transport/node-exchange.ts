import type { ClientRequest, IncomingMessage } from 'node:http'
import { AnswerBytes } from './answer-bytes.ts'
import { type Exchange, type ExchangeAnswer, type ExchangeRequest, SERVER_NOW_HEADER } from './exchange.ts'
import type { NodeHttp } from './node-http.ts'

/** Makes an exchange over Node's own HTTP client. A call costs a third of what it costs over `fetch` with a timeout. */
export function createNodeExchange(url: URL, { module, agent }: NodeHttp): Exchange {
  const base = (url.pathname + url.search).replace(/\/$/, '')
  const target = {
    protocol: url.protocol,
    // A URL writes an IPv6 address in brackets, a socket is opened without.
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port,
    agent,
  }
  return async (request) => {
    const { method, path, body, headers } = request
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const outgoing = module.request({
      ...target,
      method,
      path: base + path,
      // Nothing here decompresses an answer.
      headers: { ...headers, 'accept-encoding': 'identity', ...length },
    })
    return sendOnce(outgoing, request)
  }
}

function sendOnce(
  outgoing: ClientRequest,
  { body, answerBytesMax, timeoutMs, signal }: ExchangeRequest,
): Promise<ExchangeAnswer> {
  return new Promise((resolve, reject) => {
    let isSettled = false
    const settle = (): void => {
      isSettled = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: unknown): void => {
      if (isSettled) return
      settle()
      reject(error)
      // A connection with half an exchange on it serves no other.
      outgoing.destroy()
    }
    const closed = (): void => {
      if (!isSettled) fail(new Error('the connection was closed before the answer was whole'))
    }
    const onAbort = (): void => fail(signal?.reason)
    const timer = setTimeout(() => fail(toTimeoutError()), Math.ceil(timeoutMs))
    signal?.addEventListener('abort', onAbort, { once: true })
    outgoing.on('error', fail)
    // The other listeners report most errors. This one reports the rest, for example when the server answers in another
    // protocol.
    outgoing.on('close', closed)
    outgoing.on('response', (response) => {
      const done = (text: string): void => {
        settle()
        resolve(toAnswer(response, text))
      }
      outgoing.off('close', closed)
      response.on('close', closed)
      readText(response, answerBytesMax, done, fail)
    })
    outgoing.end(body)
  })
}

function readText(
  response: IncomingMessage,
  bytesMax: number,
  done: (text: string) => void,
  fail: (error: unknown) => void,
): void {
  const { statusCode = 0, headers } = response
  try {
    const answer = new AnswerBytes(statusCode, headers['content-length'], bytesMax)
    response.on('data', (chunk: Buffer) => {
      try {
        answer.add(chunk)
      } catch (error: unknown) {
        fail(error)
      }
    })
    response.on('error', fail)
    response.on('end', () => done(answer.text()))
  } catch (error: unknown) {
    fail(error)
  }
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage, text: string): ExchangeAnswer {
  const serverNow = headers[SERVER_NOW_HEADER]
  return {
    status: statusCode,
    retryAfter: headers['retry-after'] ?? null,
    serverNow: typeof serverNow === 'string' ? serverNow : null,
    text,
  }
}

/** Makes the error that `AbortSignal.timeout` gives. */
function toTimeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}
