import { createSecureServer, createServer, type Http2Server } from 'node:http2'
import type { Server as TcpServer } from 'node:net'
import type { ConnectionBounds, Gate } from '@counterstep/access'
import type { Dialect } from '@counterstep/dtm'
import { CallGuard } from './call-guard.ts'
import { Connections, START_MS_MAX } from './connections.ts'
import { DtmMethods } from './dtm-methods.ts'
import { GrpcCall } from './grpc-call.ts'
import { Health } from './health.ts'
import { listen } from './listen.ts'
import { Protobuf } from './protobuf.ts'
import { Reflection } from './reflection.ts'
import { serveCall } from './serve-call.ts'
import { Sessions } from './sessions.ts'

export interface DtmGrpcDeps {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly dialect: Dialect
  readonly gate: Gate
  readonly bounds: ConnectionBounds
  /** The certificate and its key as PEM. Absent: plain text. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** It gets the errors that are bugs or have no code. By default they are dropped. */
  readonly onError?: (error: unknown) => void
}

export interface DtmGrpcServer {
  /** This is `grpc://HOST:PORT`, or `grpcs://HOST:PORT` with TLS. */
  readonly url: string
  /** Connections come through these. */
  readonly servers: readonly TcpServer[]
  /** Asks all clients to open other connections, and lets the calls on theirs end. */
  drain(): void
  /** Takes no new connection, and lets calls end for a bounded time. */
  stop(): Promise<void>
}

/** Calls that are under way have this long before their connections are cut. */
const CLOSE_MS = 1_000
const DRAIN_MS = 8_000
/** One connection has so many calls under way. */
const CALLS_PER_CONNECTION_MAX = 100
/** The head of a call has so many bytes, with 32 for each header, and so many headers. */
const HEAD_BYTES_MAX = 16_384
const HEADERS_MAX = 64
const BYTES_PER_HEADER = 32
const HEAD_TOO_LARGE = 431

/**
 * Serves DTM's gRPC API, the standard services for health and reflection with it. The package that reads its messages is optional and is
 * loaded here alone. Throws SAGA_GRPC_MISSING if it is not installed.
 */
export async function startDtmGrpc(deps: DtmGrpcDeps): Promise<DtmGrpcServer> {
  const { dialect, gate, bounds, tls, onError: report = () => undefined } = deps
  const protobuf = await Protobuf.load()
  const connections = new Connections(bounds)
  const sessions = new Sessions()
  const guard = new CallGuard(gate, connections)
  const health = new Health(() => dialect.commands.engine.isStopping, protobuf)
  const methods = new Map([
    ...new DtmMethods({ dialect, gate, guard, protobuf, report }).build(),
    ...health.build(),
    ...new Reflection(protobuf).build(),
  ])
  const http2 = createHttp2(tls)
  http2.on('session', (session) => sessions.add(session, connections.find()?.socket))
  http2.on('stream', (stream, headers, _flags, rawHeaders) => {
    const call = new GrpcCall(stream, headers)
    // Its client may have ended it in the same packet.
    if (call.hasEnded) return
    // A client that does not confirm the settings may send more than they say.
    if (countBytes(rawHeaders) > HEAD_BYTES_MAX) {
      if (guard.countRefused()) call.refuse(HEAD_TOO_LARGE)
    } else serveCall(call, headers, { methods, guard, report })
  })
  const servers = await listen(deps.host, deps.port, (socket) => {
    socket.on('error', () => socket.destroy())
    connections.add(socket, (stream) => http2.emit('connection', stream))
  })
  const drain = (ms: number) => {
    health.stop()
    sessions.drain(ms)
  }
  return {
    url: `${tls === undefined ? 'grpc' : 'grpcs'}://${readAddress(servers)}`,
    servers,
    drain: () => drain(DRAIN_MS),
    async stop() {
      const closed = servers.map((each) => new Promise<void>((resolve) => each.close(() => resolve())))
      drain(CLOSE_MS)
      const cut = setTimeout(() => connections.destroyAll(), CLOSE_MS)
      await Promise.all(closed)
      clearTimeout(cut)
      sessions.close()
    },
  }
}

/** It speaks HTTP/2 over connections that it is given, and listens on no port. */
function createHttp2(tls: DtmGrpcDeps['tls']): Http2Server {
  const options = {
    settings: { maxConcurrentStreams: CALLS_PER_CONNECTION_MAX, maxHeaderListSize: HEAD_BYTES_MAX },
    maxHeaderListPairs: HEADERS_MAX,
  }
  return tls === undefined
    ? createServer(options)
    : createSecureServer({ ...options, ...tls, handshakeTimeout: START_MS_MAX })
}

/** Counts as HTTP/2 does. */
function countBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, (rawHeaders.length / 2) * BYTES_PER_HEADER)
}

function readAddress([first]: readonly TcpServer[]): string {
  const address = first?.address()
  if (address === null || typeof address !== 'object') throw new Error('not listening on a port')
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
