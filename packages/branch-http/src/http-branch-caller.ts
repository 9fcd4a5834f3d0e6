import type { BranchAnswer, BranchCall, BranchCaller, OriginLoad } from '@counterstep/core'
import { answerUnknown } from './answer-result.ts'
import { Attempt, type AttemptOptions } from './attempt.ts'
import { type CallerOptions, checkOptions, type HttpBranchCallerOptions } from './caller-options.ts'
import { type CallerOrigins, createCallerOrigins } from './caller-origins.ts'
import { CheckedPayloads } from './checked-payloads.ts'
import { assertConnectorGivesSocket } from './connector-socket.ts'
import { toErrorWord } from './error-word.ts'
import { createOpenTurns } from './origin-turns.ts'
import { PackedRoom } from './packed-room.ts'
import { createPoolFactory } from './pool-factory.ts'
import { type ParsedUrl, toParsedUrl } from './request-line.ts'
import { TargetCache, useOrigin } from './target-cache.ts'

/**
 * Makes the branch caller. It speaks HTTP/1.1 by undici over connections that are kept, with one call at a time on
 * each. It follows no redirects, and uses a proxy only if the options name one. It asks services not to pack their
 * answers, and unpacks an answer only if the words ONGOING and FAILURE in it decide the result. Each call is one
 * attempt and gets one answer.
 */
export function httpBranchCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  const checked = checkOptions(options)
  const createPool = createPoolFactory(checked, createOpenTurns(checked))
  return createHttpBranchCaller(checked, createCallerOrigins(checked, createPool))
}

/** Makes the branch caller over HTTP, which may share its origins with another one. */
export function createHttpBranchCaller(options: CallerOptions, shared: CallerOrigins): BranchCaller {
  assertConnectorGivesSocket()
  return new HttpBranchCaller(options, shared)
}

class HttpBranchCaller implements BranchCaller {
  readonly #wheel: CallerOrigins['wheel']
  readonly #targets: TargetCache<ParsedUrl>
  readonly #origins: CallerOrigins['origins']
  readonly #keepsExcerpts: boolean
  readonly #attempts: AttemptOptions
  #isClosed = false

  constructor(limits: CallerOptions, { wheel, origins }: CallerOrigins) {
    this.#wheel = wheel
    this.#origins = origins
    const { targets } = limits
    this.#keepsExcerpts = limits.answerExcerpts
    this.#attempts = {
      signer: limits.signer,
      payloads: new CheckedPayloads(),
      bodyBytesMax: limits.answerBodyBytesMax,
      packedRoom: new PackedRoom(),
    }
    this.#targets = new TargetCache(
      limits.targetsMax,
      (url) => targets.resolve(url),
      (url, text) => toParsedUrl(url, targets.isWhole?.(text) ?? false),
    )
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      try {
        this.#start(call, this.#keepsExcerpts ? resolve : ({ excerpt: _, ...answer }) => resolve(answer))
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
    if (this.#isClosed) {
      resolve(answerUnknown('closed'))
      return
    }
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') {
      resolve(answerUnknown(target))
      return
    }
    const now = performance.now()
    const origin = useOrigin(target, this.#origins, now)
    if (origin === undefined) {
      resolve(answerUnknown('busy'))
      return
    }
    const attempt = new Attempt(call, target, this.#attempts, resolve)
    this.#wheel.add(attempt, now, call.timeoutMs)
    origin.start(attempt)
  }
}
