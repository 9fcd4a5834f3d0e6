import type { BranchAnswer, BranchCall, BranchCaller, OriginLoad } from '@counterstep/core'
import { Attempt, type AttemptOptions } from './attempt.ts'
import { checkOptions, type HttpBranchCallerOptions } from './caller-options.ts'
import { CheckedPayloads } from './checked-payloads.ts'
import { assertConnectorGivesSocket } from './connector-socket.ts'
import { DeadlineWheel } from './deadline-wheel.ts'
import { type ErrorWord, toErrorWord } from './error-word.ts'
import { createListedCheck, UNLISTED_IN_FLIGHT_MAX } from './listed-origins.ts'
import type { Origin } from './origin.ts'
import { Origins } from './origins.ts'
import { PackedRoom } from './packed-room.ts'
import { createPoolFactory } from './pool-factory.ts'
import { SharedPlaces } from './shared-places.ts'
import { type Target, TargetCache } from './target-cache.ts'

/** The deadline of a call may be noticed this late. */
const DEADLINE_TICK_MS = 25

/**
 * Makes the branch caller. It speaks HTTP/1.1 by undici over connections that are kept, with one call at a time on
 * each. It follows no redirects, and uses a proxy only if the options name one. It asks services not to pack their
 * answers, and unpacks an answer only if the words ONGOING and FAILURE in it decide the result. Each call is one
 * attempt and gets one answer.
 */
export function httpBranchCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  assertConnectorGivesSocket()
  return new HttpBranchCaller(options)
}

class HttpBranchCaller implements BranchCaller {
  readonly #wheel = new DeadlineWheel(DEADLINE_TICK_MS)
  readonly #targets: TargetCache
  readonly #origins: Origins<Attempt>
  readonly #keepsExcerpts: boolean
  readonly #attempts: AttemptOptions
  #isClosed = false

  constructor(options: HttpBranchCallerOptions) {
    const limits = checkOptions(options)
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
      (url) => targets.isWhole?.(url) ?? false,
    )
    const isListed = createListedCheck(limits.listedOrigins)
    const shared = new SharedPlaces(UNLISTED_IN_FLIGHT_MAX)
    this.#origins = new Origins<Attempt>(this.#wheel, {
      originsMax: limits.originsMax,
      originIdleMs: limits.originIdleMs,
      inFlightMax: limits.connectionsPerOriginMax,
      queuedMax: limits.queuedPerOriginMax,
      connectionAgeMsMax: limits.connectionAgeMsMax,
      createDispatcher: createPoolFactory(limits),
      findShared: (originKey) => (isListed(originKey) ? undefined : shared),
    })
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      try {
        this.#start(call, this.#keepsExcerpts ? resolve : ({ excerpt: _, ...answer }) => resolve(answer))
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
    if (this.#isClosed) {
      resolve(answerUnsent('closed'))
      return
    }
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') {
      resolve(answerUnsent(target))
      return
    }
    const now = performance.now()
    const origin = this.#useOrigin(target, now)
    if (origin === undefined) {
      resolve(answerUnsent('busy'))
      return
    }
    const attempt = new Attempt(call, target, this.#attempts, resolve)
    this.#wheel.add(attempt, now, call.timeoutMs)
    origin.start(attempt)
  }

  #useOrigin(target: Target, now: number): Origin<Attempt> | undefined {
    let origin = target.origin
    if (origin === undefined || origin.isClosed) {
      origin = this.#origins.get(target.originKey, now)
      target.origin = origin
    }
    if (origin !== undefined) origin.usedAt = now
    return origin
  }
}

function answerUnsent(word: ErrorWord): BranchAnswer {
  return { result: 'unknown', error: word }
}
