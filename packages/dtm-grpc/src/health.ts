import type { handleServerStreamingCall, handleUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { DTM_SERVICE } from './descriptor.ts'
import type { HealthCheckMessage } from './messages.ts'
import { buildStatus, CODES } from './to-status.ts'

/** So many calls may watch the health at once. */
const WATCHERS_MAX = 256
const SERVICES: ReadonlySet<string> = new Set(['', DTM_SERVICE])

interface HealthReply {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'
}

type Watcher = ServerWritableStream<HealthCheckMessage, HealthReply>

/** Answers load balancers by the standard protocol: this server serves until it begins to stop. */
export class Health {
  readonly #isStopping: () => boolean
  readonly #watchers = new Set<Watcher>()

  constructor(isStopping: () => boolean) {
    this.#isStopping = isStopping
  }

  build() {
    return { Check: this.#check, Watch: this.#watch }
  }

  /** Tells those who watch that this server stops, and ends their calls. */
  stop(): void {
    for (const watcher of this.#watchers) {
      watcher.write({ status: 'NOT_SERVING' })
      watcher.end()
    }
    this.#watchers.clear()
  }

  readonly #check: handleUnaryCall<HealthCheckMessage, HealthReply> = ({ request }, callback) => {
    const { service } = request
    if (SERVICES.has(service)) callback(null, { status: this.#readStatus() })
    // The code is that of NOT_FOUND, as the protocol demands.
    else callback({ code: 5, details: 'no such service' })
  }

  readonly #watch: handleServerStreamingCall<HealthCheckMessage, HealthReply> = (call) => {
    if (this.#watchers.size >= WATCHERS_MAX) {
      call.emit('error', buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many watch the health'))
      return
    }
    this.#watchers.add(call)
    call.on('cancelled', () => this.#watchers.delete(call))
    call.write({ status: SERVICES.has(call.request.service) ? this.#readStatus() : 'SERVICE_UNKNOWN' })
  }

  #readStatus(): HealthReply['status'] {
    return this.#isStopping() ? 'NOT_SERVING' : 'SERVING'
  }
}
