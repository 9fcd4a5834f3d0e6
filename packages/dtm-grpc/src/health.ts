import type { handleServerStreamingCall, handleUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { CallGuard } from './call-guard.ts'
import { DTM_SERVICE } from './descriptor.ts'
import type { HealthCheckMessage } from './messages.ts'
import { OpenCalls } from './open-calls.ts'
import { buildStatus, CODES } from './to-status.ts'

/** So many calls may watch the health at once. */
const WATCHERS_MAX = 256
/** So many of them come over one connection, and so many from one address (one /64 of IPv6). */
export const WATCHERS_PER_CONNECTION_MAX = 4
export const WATCHERS_PER_ADDRESS_MAX = 32
const SERVICES: ReadonlySet<string> = new Set(['', DTM_SERVICE])

interface HealthReply {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'
}

type Watcher = ServerWritableStream<HealthCheckMessage, HealthReply>

/** Answers load balancers by the standard protocol: this server serves until it begins to stop. */
export class Health {
  readonly #isStopping: () => boolean
  readonly #guard: Pick<CallGuard, 'find'>
  readonly #watchers = new OpenCalls<Watcher>({
    callsMax: WATCHERS_MAX,
    perConnectionMax: WATCHERS_PER_CONNECTION_MAX,
    perNetworkMax: WATCHERS_PER_ADDRESS_MAX,
  })

  constructor(isStopping: () => boolean, guard: Pick<CallGuard, 'find'>) {
    this.#isStopping = isStopping
    this.#guard = guard
  }

  build() {
    return { Check: this.#check, Watch: this.#watch }
  }

  /** Tells those who watch that this server stops, and ends their calls. */
  stop(): void {
    for (const watcher of this.#watchers.clear()) {
      watcher.write({ status: 'NOT_SERVING' })
      watcher.end()
    }
  }

  readonly #check: handleUnaryCall<HealthCheckMessage, HealthReply> = ({ request }, callback) => {
    const { service } = request
    if (SERVICES.has(service)) callback(null, { status: this.#readStatus() })
    // The code is that of NOT_FOUND, as the protocol demands.
    else callback({ code: 5, details: 'no such service' })
  }

  readonly #watch: handleServerStreamingCall<HealthCheckMessage, HealthReply> = (call) => {
    const { connection } = this.#guard.find(call.metadata)
    if (!this.#watchers.add(call, connection)) {
      call.emit('error', buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many watch the health'))
      return
    }
    call.on('cancelled', () => this.#watchers.delete(call))
    call.write({ status: SERVICES.has(call.request.service) ? this.#readStatus() : 'SERVICE_UNKNOWN' })
  }

  #readStatus(): HealthReply['status'] {
    return this.#isStopping() ? 'NOT_SERVING' : 'SERVING'
  }
}
