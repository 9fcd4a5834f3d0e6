import type { BranchAnswer, BranchCall, BranchCaller, OriginLoad } from '@counterstep/core'
import { answerUnknown } from '../answer-result.ts'
import type { CallerOptions } from '../caller-options.ts'
import type { CallerOrigins } from '../caller-origins.ts'
import { toErrorWord } from '../error-word.ts'
import { guardLookup } from '../guarded-connector.ts'
import type { OpenTurns } from '../origin-turns.ts'
import { TargetCache, useOrigin } from '../target-cache.ts'
import { toOrigin } from '../targets/target-url.ts'
import type { Destination } from './call-metadata.ts'
import { connectChecked } from './checked-socket.ts'
import { type AnswerBounds, GrpcAttempt } from './grpc-attempt.ts'
import { GrpcConnections } from './grpc-connections.ts'

/**
 * Calls branches over gRPC. A call is unary, its message are the bytes of the body, which is base64, and its
 * answer is the status alone. The bounds are those of the caller over HTTP, with all calls to one service on one connection.
 */
export class GrpcBranchCaller implements BranchCaller {
  readonly #options: CallerOptions
  readonly #wheel: CallerOrigins['wheel']
  readonly #origins: CallerOrigins['origins']
  readonly #targets: TargetCache<GrpcDestination>
  readonly #bounds: AnswerBounds
  #isClosed = false

  constructor(options: CallerOptions, { wheel, origins }: CallerOrigins) {
    this.#options = options
    this.#wheel = wheel
    this.#origins = origins
    this.#targets = new TargetCache(
      options.targetsMax,
      (url) => options.targets.resolve(url),
      toGrpcDestination,
    )
    this.#bounds = {
      answerBytesMax: options.answerBodyBytesMax,
      headerBytesMax: options.answerHeaderBytesMax,
    }
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      try {
        this.#start(call, resolve)
      } catch (error: unknown) {
        // The request cannot even be built. A call of this port never rejects.
        resolve(answerUnknown(toErrorWord(error)))
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
    const { proxyUrl, answerExcerpts } = this.#options
    const target = this.#targets.get(call.url)
    const now = performance.now()
    if (this.#isClosed) {
      resolve(answerUnknown('closed'))
    } else if (typeof target === 'string') {
      resolve(answerUnknown(target))
    } else if (proxyUrl !== undefined) {
      // A call must not go around the proxy, and no tunnel is made for it yet.
      resolve(answerUnknown('denied-target'))
    } else {
      const origin = useOrigin(target, this.#origins, now)
      if (origin === undefined) {
        resolve(answerUnknown('busy'))
        return
      }
      const finish = answerExcerpts ? resolve : ({ excerpt: _, ...answer }: BranchAnswer) => resolve(answer)
      const attempt = new GrpcAttempt(call, target, this.#bounds, finish)
      this.#wheel.add(attempt, now, call.timeoutMs)
      origin.start(attempt)
    }
  }
}

interface GrpcDestination extends Destination {
  readonly originKey: string
}

function toGrpcDestination(url: URL): GrpcDestination {
  const scheme = url.protocol === 'grpcs:' ? 'https' : 'http'
  return { originKey: toOrigin(url), scheme, authority: url.host, path: url.pathname }
}

export function createConnectionsFactory(
  options: CallerOptions,
  openTurns: OpenTurns,
): (originKey: string) => GrpcConnections {
  const { targets, connectTimeoutMs, answerHeaderBytesMax: headerBytesMax } = options
  const mayReach = (hostname: string, address: string) => targets.mayReach(hostname, address)
  const lookup = guardLookup(mayReach, options.lookup)
  return function createConnections(originKey) {
    const { protocol, hostname, port, host } = new URL(originKey)
    const isSecure = protocol === 'grpcs:'
    const tls = isSecure ? { ...options.tls.get(`https://${host}`) } : undefined
    const turns = openTurns(originKey)
    return new GrpcConnections({
      connect: (callback) =>
        connectChecked(
          hostname,
          Number(port),
          { mayReach, lookup, connectTimeoutMs, tls, ...turns },
          callback,
        ),
      authority: `${isSecure ? 'https' : 'http'}://${host}`,
      headerBytesMax,
    })
  }
}
