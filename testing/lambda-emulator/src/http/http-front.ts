import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDeferred } from '../deferred.ts'
import type { LambdaFunction } from '../lambda-function.ts'
import { PAYLOAD_BYTES_MAX } from '../runtime-api.ts'
import { toHttpAnswer } from './http-answer.ts'
import {
  answerBadGateway,
  answerTooManyRequests,
  type HttpEndpoint,
  INTEGRATION_TIMED_OUT,
  type PlainAnswer,
  REQUEST_TOO_LARGE,
} from './http-endpoint.ts'
import { type ClientRequest, toHttpEvent } from './http-event.ts'

/** A body may have this size. Base64 makes it a third larger, and the event has a limit of its own. */
const BODY_BYTES_MAX = 6 * 1024 * 1024
const INTEGRATION_MS_MAX = 30_000

export interface HttpFrontOptions {
  readonly target: LambdaFunction
  readonly endpoint: HttpEndpoint
  /** An HTTP API waits this long for the function. By default it is 30 s, as in AWS. */
  readonly integrationTimeoutMs?: number
}

export interface HttpFront {
  /** It has the form http://127.0.0.1:PORT. */
  readonly url: string
  stop(): Promise<void>
}

/** Listens for requests, turns them into events of the function, and its results into answers. */
export async function startHttpFront(options: HttpFrontOptions): Promise<HttpFront> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  options: HttpFrontOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  const {
    status,
    headers,
    body: content,
  } = body === undefined
    ? REQUEST_TOO_LARGE
    : await invoke(options, {
        method: request.method ?? 'GET',
        target: request.url ?? '/',
        rawHeaders: request.rawHeaders,
        body,
        sourceIp: request.socket.remoteAddress ?? '',
      })
  response.writeHead(status, headers.flat())
  response.end(content)
}

/** Returns undefined when the body is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Bytes beyond the limit are read and dropped, so that the client gets the answer.
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
  }
  return bytes <= BODY_BYTES_MAX ? Buffer.concat(chunks) : undefined
}

async function invoke(
  { target, endpoint, integrationTimeoutMs = INTEGRATION_MS_MAX }: HttpFrontOptions,
  request: ClientRequest,
): Promise<PlainAnswer> {
  const event = toHttpEvent(request, endpoint)
  if (Buffer.byteLength(JSON.stringify(event)) > PAYLOAD_BYTES_MAX) return REQUEST_TOO_LARGE
  const answered = getAnswer(target, event, endpoint)
  return endpoint === 'http-api' ? await limitWait(integrationTimeoutMs, answered) : await answered
}

async function getAnswer(
  target: LambdaFunction,
  event: unknown,
  endpoint: HttpEndpoint,
): Promise<PlainAnswer> {
  const outcome = await target.invoke(event)
  switch (outcome.type) {
    case 'answered':
      return toHttpAnswer(outcome.payload, endpoint)
    case 'failed':
    case 'timed-out':
      return answerBadGateway(endpoint)
    case 'throttled':
      return answerTooManyRequests(endpoint)
  }
}

/** Answers 503 when the time is over. The function runs on, as it does in AWS. */
async function limitWait(limitMs: number, answered: Promise<PlainAnswer>): Promise<PlainAnswer> {
  const late = createDeferred<PlainAnswer>()
  const timer = setTimeout(() => late.resolve(INTEGRATION_TIMED_OUT), limitMs)
  try {
    return await Promise.race([answered, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
