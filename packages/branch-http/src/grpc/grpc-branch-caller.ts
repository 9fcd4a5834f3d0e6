import type { BranchAnswer, BranchCall, BranchCaller, OriginLoad } from '@counterstep/core'
import { type CallerOptions, checkOptions, type HttpBranchCallerOptions } from '../caller-options.ts'
import { DeadlineWheel } from '../deadline-wheel.ts'
import { type ErrorWord, toErrorWord } from '../error-word.ts'
import { guardLookup } from '../guarded-connector.ts'
import { createListedCheck, UNLISTED_IN_FLIGHT_MAX } from '../listed-origins.ts'
import { Origins } from '../origins.ts'
import { shareLookup } from '../shared-lookup.ts'
import { SharedPlaces } from '../shared-places.ts'
import { toOrigin } from '../targets/target-url.ts'
import { connectChecked } from './checked-socket.ts'
import { type AnswerBounds, GrpcAttempt } from './grpc-attempt.ts'
import { GrpcConnections } from './grpc-connections.ts'

/** The deadline of a call may be noticed this late. */
const DEADLINE_TICK_MS = 25

/**
 * Makes the caller of branches over gRPC. A call is unary, its message are the bytes of the body, which is base64, and its
 * answer is the status alone. The bounds are those of the caller over HTTP, with all calls to one service on one connection.
 */
export function grpcBranchCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  return new GrpcBranchCaller(checkOptions(options))
}

class GrpcBranchCaller implements BranchCaller {
  readonly #wheel = new DeadlineWheel(DEADLINE_TICK_MS)
  readonly #options: CallerOptions
  readonly #origins: Origins<GrpcAttempt>
  readonly #bounds: AnswerBounds
  #isClosed = false

  constructor(options: CallerOptions) {
    this.#options = options
    this.#bounds = {
      answerBytesMax: options.answerBodyBytesMax,
      headerBytesMax: options.answerHeaderBytesMax,
    }
    const isListed = createListedCheck(options.listedOrigins)
    const shared = new SharedPlaces(UNLISTED_IN_FLIGHT_MAX)
    this.#origins = new Origins<GrpcAttempt>(this.#wheel, {
      originsMax: options.originsMax,
      originIdleMs: options.originIdleMs,
      inFlightMax: options.connectionsPerOriginMax,
      queuedMax: options.queuedPerOriginMax,
      connectionAgeMsMax: options.connectionAgeMsMax,
      createDispatcher: createConnectionsFactory(options),
      findShared: (originKey) => (isListed(originKey) ? undefined : shared),
    })
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      try {
        this.#start(call, resolve)
      } catch (error: unknown) {
        // The request cannot even be built. A call of this port never rejects.
        resolve(answerUnsent(toErrorWord(error)))
      }
    })
  }

  loads(): readonly OriginLoad[] {
    return this.#origins.loads()
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#origins.close()
  }

  #start(call: BranchCall, resolve: (answer: BranchAnswer) => void): void {
    const { targets, proxyUrl, answerExcerpts } = this.#options
    const url = targets.resolve(call.url)
    const now = performance.now()
    if (this.#isClosed) {
      resolve(answerUnsent('closed'))
    } else if (!(url instanceof URL)) {
      resolve(answerUnsent(url.code === 'SAGA_URL_INVALID' ? 'bad-url' : 'denied-target'))
    } else if (proxyUrl !== undefined) {
      // A call must not go around the proxy, and no tunnel is made for it yet.
      resolve(answerUnsent('denied-target'))
    } else {
      const origin = this.#origins.get(toOrigin(url), now)
      if (origin === undefined) {
        resolve(answerUnsent('busy'))
        return
      }
      origin.usedAt = now
      const scheme = url.protocol === 'grpcs:' ? 'https' : 'http'
      const destination = { scheme, authority: url.host, path: url.pathname } as const
      const finish = answerExcerpts ? resolve : ({ excerpt: _, ...answer }: BranchAnswer) => resolve(answer)
      const attempt = new GrpcAttempt(call, destination, this.#bounds, finish)
      this.#wheel.add(attempt, now, call.timeoutMs)
      origin.start(attempt)
    }
  }
}

function createConnectionsFactory(options: CallerOptions): (originKey: string) => GrpcConnections {
  const { targets, connectTimeoutMs, answerHeaderBytesMax: headerBytesMax } = options
  const mayReach = (hostname: string, address: string) => targets.mayReach(hostname, address)
  const listedHosts = new Set(options.listedOrigins.map((origin) => new URL(origin).hostname))
  const lookup = guardLookup(mayReach, shareLookup(options.lookup, listedHosts))
  return function createConnections(originKey) {
    const { protocol, hostname, port, host } = new URL(originKey)
    const isSecure = protocol === 'grpcs:'
    const tls = isSecure ? { ...options.tls.get(`https://${host}`) } : undefined
    return new GrpcConnections({
      connect: (callback) =>
        connectChecked(hostname, Number(port), { mayReach, lookup, connectTimeoutMs, tls }, callback),
      authority: `${isSecure ? 'https' : 'http'}://${host}`,
      headerBytesMax,
    })
  }
}

function answerUnsent(word: ErrorWord): BranchAnswer {
  return { result: 'unknown', error: word }
}
