import { once } from 'node:events'
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type HotRoutes, serveHotRequests } from '../src/index.ts'

/** What a server has been asked, and by whose parser. */
export interface Asked {
  readonly reader: 'hot' | 'node'
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

export interface Bed {
  readonly server: Server
  readonly port: number
  /** In their order, each when it had come whole. */
  readonly asked: readonly Asked[]
  /** Node's faults and ours, by their codes. */
  readonly faults: readonly string[]
}

export type Answer = (asked: Asked, response: ServerResponse) => void

export const LIMITS = {
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  keepAliveTimeoutMs: 10_000,
  requestsPerSocketMax: 1_000_000,
  connectionsCheckMs: 20,
}
export const BODY_BYTES_MAX = 64 * 1024

/** As fastify answers: a head, and a text with its length. */
export function answerText(
  response: ServerResponse,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { ...headers, 'content-length': String(Buffer.byteLength(text)) })
  response.end(text)
}

const echo: Answer = ({ body }, response) => answerText(response, `<${body}>`)

export interface BedSettings {
  readonly limits?: Partial<HotRoutes['limits']>
  /** False: Node's server alone, to compare with. Default: true. */
  readonly isHot?: boolean
}

/** A server whose routes `/hot` are hot. */
export async function hotServer(
  { limits, isHot = true }: BedSettings = {},
  answer: Answer = echo,
): Promise<Bed> {
  const given = { ...LIMITS, ...limits }
  const asked: Asked[] = []
  const faults: string[] = []
  const server = createServer({
    headersTimeout: given.requestTimeoutMs,
    requestTimeout: given.requestTimeoutMs,
    connectionsCheckingInterval: given.connectionsCheckMs,
  })
  server.keepAliveTimeout = given.keepAliveTimeoutMs
  server.maxRequestsPerSocket = given.requestsPerSocketMax
  server.on('request', (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method, url, headers } = request
      const reader = request instanceof IncomingMessage ? 'node' : 'hot'
      const one = { reader, method, url, headers, body: Buffer.concat(parts).toString('latin1') } as const
      asked.push(one)
      answer(one, response)
    })
    request.resume()
  })
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    faults.push(error.code ?? '')
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })
  if (isHot) {
    serveHotRequests(server, { routes: ['POST /hot', 'GET /hot'], limits: given })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: (server.address() as AddressInfo).port, asked, faults }
}

export interface Caller {
  readonly socket: Socket
  /** All that came. */
  readonly text: () => string
  /** Resolves with all that came, when nothing comes any more. */
  readonly ended: Promise<string>
}

export function call(port: number, bytes = ''): Caller {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => undefined)
  socket.on('end', () => socket.end())
  if (bytes !== '') socket.write(bytes, 'latin1')
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(text))
  })
  onTestFinished(() => void socket.destroy())
  return { socket, text: () => text, ended }
}

export function post(body: string, fields = '', path = '/hot'): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${fields}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`
}

/** The bodies of answers, which stand in angle brackets. */
export function bodiesIn(text: string): readonly string[] {
  return [...text.matchAll(/\r\n\r\n<(.*?)>/gs)].map(([, body]) => body ?? '')
}
