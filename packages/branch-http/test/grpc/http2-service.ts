import { once } from 'node:events'
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { GRPC_CONTENT_TYPE } from '@counterstep/protocol'
import { onTestFinished } from 'vitest'
import { branchCaller, type HttpBranchCallerOptions } from '../../src/index.ts'
import { buildCall } from '../hostile-server.ts'

export interface Http2Service {
  readonly port: number
  readonly sessions: ReadonlySet<ServerHttp2Session>
  countSessions(): number
}

export type Play = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

/** Starts a server of Node for HTTP/2, with TLS if it has a certificate. It is closed when the test ends. */
export async function serveHttp2(
  play: Play,
  tls?: { readonly cert: string; readonly key: string },
): Promise<Http2Service> {
  const server: Http2Server = tls === undefined ? createServer() : createSecureServer(tls)
  const sessions = new Set<ServerHttp2Session>()
  let count = 0
  server.on('session', (session) => {
    count++
    sessions.add(session)
    session.on('error', () => session.destroy())
    session.once('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    play(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sessions, countSessions: () => count }
}

/** Answers with a status of gRPC, and one empty message if it is a success. */
export function answerStatus(stream: ServerHttp2Stream, code: number, message = ''): void {
  stream.resume()
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) }),
  )
  stream.end(code === 0 ? Buffer.alloc(5) : undefined)
}

export function openCaller(options: HttpBranchCallerOptions = {}) {
  const caller = branchCaller(options)
  onTestFinished(() => caller.close())
  return caller
}

/** Builds the call of a method of the service at a port of this machine. */
export function buildGrpcCall(
  port: number,
  overrides: Parameters<typeof buildCall>[1] = {},
  host = 'grpc://127.0.0.1',
) {
  return buildCall(`${host}:${port}/bank.Bank/Debit`, {
    body: Buffer.from('hello').toString('base64'),
    contentType: GRPC_CONTENT_TYPE,
    ...overrides,
  })
}
