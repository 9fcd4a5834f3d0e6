import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { FunctionError } from './invocation.ts'

/** The most that an event or an answer may have, as AWS counts it. */
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
 * Calls of the runtime client. An answer is taken if it was asked for, and acknowledged when the one that takes it
 * decides.
 */
export interface RuntimeCalls {
  /** It waits for an event. */
  readonly onNext: (deliver: (delivery: Delivery) => void) => void
  readonly onAnswer: (requestId: string, payload: string, acknowledge: () => void) => boolean
  readonly onError: (requestId: string, error: FunctionError, acknowledge: () => void) => boolean
  readonly onInitError: (error: FunctionError) => void
}

export interface RuntimeApi {
  /** HOST:PORT */
  readonly address: string
  close(): void
}

/** The HTTP interface that AWS offers inside an environment; each environment has one of its own. */
export async function openRuntimeApi(calls: RuntimeCalls): Promise<RuntimeApi> {
  const server = createServer((request, response) => {
    handle(calls, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  // A stopped client keeps its connection for as long as it is stopped.
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
    'Lambda-Runtime-Trace-Id': traceId(delivery.requestId),
  })
  response.end(delivery.payload)
}

function traceId(requestId: string): string {
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
