import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { FunctionError } from './invocation.ts'

/** An event or an answer may have at most this many bytes, as in AWS. */
export const PAYLOAD_BYTES_MAX = 6_291_556

const PREFIX = '/2018-06-01/runtime'
const ANSWER_PATH = /^\/2018-06-01\/runtime\/invocation\/([^/]+)\/(response|error)$/

export interface Delivery {
  readonly requestId: string
  readonly functionArn: string
  readonly deadlineAt: number
  readonly payload: string
}

/**
 * These functions handle the calls of the runtime client. The two for answers return false for an answer that was not
 * asked for. The client's call is answered only when `acknowledge` is called.
 */
export interface RuntimeCalls {
  /** The client waits for an event. */
  readonly onNext: (deliver: (delivery: Delivery) => void) => void
  readonly onAnswer: (requestId: string, payload: string, acknowledge: () => void) => boolean
  readonly onError: (requestId: string, error: FunctionError, acknowledge: () => void) => boolean
  readonly onInitError: (error: FunctionError) => void
}

export interface RuntimeApi {
  /** It has the form HOST:PORT. */
  readonly address: string
  close(): void
}

/** Opens the HTTP interface that AWS offers inside an environment. Each environment has one of its own. */
export async function openRuntimeApi(calls: RuntimeCalls): Promise<RuntimeApi> {
  const server = createServer((request, response) => {
    handle(calls, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  // The timeouts are off, because a stopped client must keep its connection for as long as it is stopped.
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  server.headersTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function handle(
  calls: RuntimeCalls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? ''
  if (request.method === 'GET' && path === `${PREFIX}/invocation/next`) {
    calls.onNext((delivery) => deliver(response, delivery))
    return
  }
  const body = await buffer(request)
  if (path === `${PREFIX}/init/error`) {
    calls.onInitError(parseError(body))
    say(response, 202, 'OK')
    return
  }
  const [, id = '', what] = ANSWER_PATH.exec(path) ?? []
  const isTaken = takeAnswer(calls, decodeURIComponent(id), what, { body, response })
  if (!isTaken) say(response, 400, 'InvalidRequestID')
}

function takeAnswer(
  calls: RuntimeCalls,
  requestId: string,
  what: string | undefined,
  { body, response }: { readonly body: Buffer; readonly response: ServerResponse },
): boolean {
  const acknowledge = () => say(response, 202, 'OK')
  if (what === 'error') return calls.onError(requestId, parseError(body), acknowledge)
  if (what !== 'response') return false
  if (body.length <= PAYLOAD_BYTES_MAX) return calls.onAnswer(requestId, body.toString(), acknowledge)
  return calls.onError(requestId, TOO_LARGE, () => say(response, 413, 'RequestEntityTooLarge'))
}

const TOO_LARGE: FunctionError = {
  errorType: 'Function.ResponseSizeTooLarge',
  errorMessage: `Response payload size exceeded maximum allowed payload size (${PAYLOAD_BYTES_MAX} bytes).`,
}

function deliver(response: ServerResponse, delivery: Delivery): void {
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Lambda-Runtime-Aws-Request-Id': delivery.requestId,
    'Lambda-Runtime-Deadline-Ms': String(delivery.deadlineAt),
    'Lambda-Runtime-Invoked-Function-Arn': delivery.functionArn,
    'Lambda-Runtime-Trace-Id': toTraceId(delivery.requestId),
  })
  response.end(delivery.payload)
}

function toTraceId(requestId: string): string {
  const hex = requestId.replaceAll('-', '')
  return `Root=1-${hex.slice(0, 8)}-${hex.slice(8)};Parent=${hex.slice(0, 16)};Sampled=0`
}

function parseError(body: Buffer): FunctionError {
  const { errorType, errorMessage, trace } = JSON.parse(body.toString())
  return { errorType: String(errorType), errorMessage: String(errorMessage), trace }
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ status: text }))
}
