import { CallError } from './call-error.ts'
import { DTM_SERVICE, HEALTH_SERVICE } from './descriptor.ts'
import { type GrpcCall, OK } from './grpc-call.ts'
import type { HealthCheckMessage } from './messages.ts'
import type { Method, Methods } from './method.ts'
import { HEALTH_ACCESS } from './method-access.ts'
import { OpenCalls } from './open-calls.ts'
import type { MethodCodec, Protobuf } from './protobuf.ts'
import { buildStatus, CODES } from './to-status.ts'

/** So many calls may watch the health at once. */
const WATCHERS_MAX = 256
/** So many of them come over one connection, and so many from one address (one /64 of IPv6). */
export const WATCHERS_PER_CONNECTION_MAX = 4
export const WATCHERS_PER_ADDRESS_MAX = 32
const SERVICES: ReadonlySet<string> = new Set(['', DTM_SERVICE])
const TOO_MANY = buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many watch the health')
/** The code is the one that the protocol demands. */
const NO_SERVICE = buildStatus(CODES.NOT_FOUND, 'no such service')

interface HealthReply {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'
}

/** Answers load balancers by the standard protocol: this server serves until it begins to stop. */
export class Health {
  readonly #isStopping: () => boolean
  readonly #codec: MethodCodec<HealthCheckMessage, HealthReply>
  readonly #watchers = new OpenCalls<GrpcCall>({
    callsMax: WATCHERS_MAX,
    perConnectionMax: WATCHERS_PER_CONNECTION_MAX,
    perNetworkMax: WATCHERS_PER_ADDRESS_MAX,
  })

  constructor(isStopping: () => boolean, protobuf: Protobuf) {
    this.#isStopping = isStopping
    // Both methods have the same messages.
    this.#codec = protobuf.buildCodec(HEALTH_SERVICE, 'Check')
  }

  build(): Methods {
    return new Map([
      [`/${HEALTH_SERVICE}/Check`, this.#check],
      [`/${HEALTH_SERVICE}/Watch`, this.#watch],
    ])
  }

  /** Tells those who watch that this server stops, and ends their calls. */
  stop(): void {
    for (const watcher of this.#watchers.clear()) {
      watcher.send(this.#codec.encode({ status: 'NOT_SERVING' }))
      watcher.end(OK)
    }
  }

  readonly #check: Method = {
    access: HEALTH_ACCESS,
    open: (call) => (message) => {
      if (!SERVICES.has(this.#codec.decode(message).service)) throw new CallError(NO_SERVICE)
      call.send(this.#codec.encode({ status: this.#readStatus() }))
      call.end(OK)
    },
  }

  readonly #watch: Method = {
    access: HEALTH_ACCESS,
    open:
      (call, { connection }) =>
      (message) => {
        const { service } = this.#codec.decode(message)
        if (!this.#watchers.add(call, connection)) throw new CallError(TOO_MANY)
        call.onClosed(() => this.#watchers.delete(call))
        call.send(
          this.#codec.encode({ status: SERVICES.has(service) ? this.#readStatus() : 'SERVICE_UNKNOWN' }),
        )
      },
  }

  #readStatus(): HealthReply['status'] {
    return this.#isStopping() ? 'NOT_SERVING' : 'SERVING'
  }
}
