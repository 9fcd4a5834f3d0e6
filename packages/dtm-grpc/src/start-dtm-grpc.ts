import type { Server as TcpServer } from 'node:net'
import type { ConnectionBounds, Gate } from '@counterstep/access'
import type { Dialect } from '@counterstep/dtm'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import type { ServiceDefinition } from '@grpc/grpc-js'
import { CallGuard } from './call-guard.ts'
import { Connections } from './connections.ts'
import { DESCRIPTOR, DTM_SERVICE, HEALTH_SERVICE, REFLECTION_SERVICES } from './descriptor.ts'
import { DtmMethods } from './dtm-methods.ts'
import { Health } from './health.ts'
import { ignoreEndedCalls } from './ignore-ended-calls.ts'
import { listen } from './listen.ts'
import { type Libraries, loadLibraries } from './load-libraries.ts'
import { Reflection } from './reflection.ts'

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
/** A connection without calls is ended after this time, and one with calls is asked to end after an hour. */
const IDLE_MS_MAX = 5 * 60_000
const AGE_MS_MAX = 60 * 60_000
/** It is more than the longest wait of a call. */
const AGE_GRACE_MS = 75_000
/** A client that answers no ping is gone. */
const PING_EVERY_MS = 60_000
const PING_MS_MAX = 20_000

const OPTIONS = {
  'grpc.enable_channelz': 0,
  'grpc.max_receive_message_length': BODY_BYTES_MAX,
  'grpc.max_concurrent_streams': CALLS_PER_CONNECTION_MAX,
  'grpc.max_connection_idle_ms': IDLE_MS_MAX,
  'grpc.max_connection_age_ms': AGE_MS_MAX,
  'grpc.max_connection_age_grace_ms': AGE_GRACE_MS,
  'grpc.keepalive_time_ms': PING_EVERY_MS,
  'grpc.keepalive_timeout_ms': PING_MS_MAX,
}

/**
 * Serves DTM's gRPC API, the standard services for health and reflection with it. The libraries are optional and are loaded here
 * alone. Throws SAGA_GRPC_MISSING if they are not installed.
 */
export async function startDtmGrpc(deps: DtmGrpcDeps): Promise<DtmGrpcServer> {
  const { dialect, gate, bounds, tls, onError = () => undefined } = deps
  const libraries = await loadLibraries()
  const { grpc } = libraries
  const connections = new Connections(bounds)
  const guard = new CallGuard(libraries, gate, connections)
  const health = new Health(() => dialect.commands.engine.isStopping, guard)
  const server = new grpc.Server({ ...OPTIONS, interceptors: [guard.intercept] })
  addServices(server, libraries, new DtmMethods({ dialect, gate, guard, report: onError }), health, guard)
  const injector = server.createConnectionInjector(
    tls === undefined
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) },
        ]),
  )
  ignoreEndedCalls(server)
  const servers = await listen(deps.host, deps.port, (socket) => {
    socket.on('error', () => socket.destroy())
    connections.add(socket, (stream) => injector.injectConnection(stream))
  })
  return {
    url: `${tls === undefined ? 'grpc' : 'grpcs'}://${readAddress(servers)}`,
    servers,
    drain() {
      health.stop()
      injector.drain(DRAIN_MS)
    },
    async stop() {
      health.stop()
      const closed = servers.map((each) => new Promise<void>((resolve) => each.close(() => resolve())))
      injector.drain(CLOSE_MS)
      const cut = setTimeout(() => connections.destroyAll(), CLOSE_MS)
      await Promise.all(closed)
      clearTimeout(cut)
      injector.destroy()
      server.forceShutdown()
    },
  }
}

function readAddress([first]: readonly TcpServer[]): string {
  const address = first?.address()
  if (address === null || typeof address !== 'object') throw new Error('not listening on a port')
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

function addServices(
  server: InstanceType<Libraries['grpc']['Server']>,
  { loader }: Libraries,
  methods: DtmMethods,
  health: Health,
  guard: CallGuard,
): void {
  // The types of protobufjs ask for fields that it does not need.
  const descriptor = DESCRIPTOR as unknown as Parameters<typeof loader.fromJSON>[0]
  const definition = loader.fromJSON(descriptor, {
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
  })
  server.addService(methods.countBytes(definition[DTM_SERVICE] as ServiceDefinition), methods.build())
  server.addService(definition[HEALTH_SERVICE] as ServiceDefinition, health.build())
  const reflection = new Reflection(definition, guard).build()
  for (const name of REFLECTION_SERVICES) server.addService(definition[name] as ServiceDefinition, reflection)
}
