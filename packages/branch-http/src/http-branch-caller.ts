import type { BranchAnswer, BranchCall, BranchCaller } from '@counterstep/core'
import type { CallSigner } from '@counterstep/signature'
import { buildConnector, Client } from 'undici'
import { Attempt } from './attempt.ts'
import { checkedBounds, type HttpBranchCallerOptions } from './caller-options.ts'
import { DeadlineWheel } from './deadline-wheel.ts'
import { type ErrorWord, errorWord } from './error-word.ts'
import type { Origin } from './origin.ts'
import { Origins } from './origins.ts'
import { type Target, TargetCache } from './target-cache.ts'

/**
 * The branch caller over undici's clients: HTTP/1.1, one call on a connection at a time, no redirects, no proxies, no
 * decompression. Each call is one attempt and one answer.
 */
export function httpBranchCaller(options: HttpBranchCallerOptions = {}): BranchCaller {
  return new HttpBranchCaller(options)
}

class HttpBranchCaller implements BranchCaller {
  readonly #wheel = new DeadlineWheel()
  readonly #targets: TargetCache
  readonly #origins: Origins
  readonly #signer: CallSigner | undefined
  #isClosed = false

  constructor({ signer, ...bounds }: HttpBranchCallerOptions) {
    const limits = checkedBounds(bounds)
    this.#signer = signer
    const connect = buildConnector({ allowH2: false, timeout: limits.connectTimeoutMs })
    this.#targets = new TargetCache(limits.targetsMax)
    this.#origins = new Origins(this.#wheel, {
      originsMax: limits.originsMax,
      originIdleMs: limits.originIdleMs,
      connectionsMax: limits.connectionsPerOriginMax,
      queuedMax: limits.queuedPerOriginMax,
      openClient: (originKey) =>
        new Client(originKey, {
          connect,
          pipelining: 1,
          allowH2: false,
          keepAliveTimeout: limits.keepAliveMs,
          maxResponseSize: limits.answerBodyBytesMax,
          maxHeaderSize: limits.answerHeaderBytesMax,
          // The wheel's deadline covers both; undici's own run between chunks, so that a drip passes them.
          headersTimeout: 0,
          bodyTimeout: 0,
        }),
    })
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      try {
        this.#start(call, resolve)
      } catch (error: unknown) {
        // A call that cannot even be written down. The port's word is that a call never rejects.
        resolve(unsent(errorWord(error)))
      }
    })
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#origins.close()
  }

  #start(call: BranchCall, resolve: (answer: BranchAnswer) => void): void {
    const target = this.#targets.get(call.url)
    if (this.#isClosed || target === undefined) {
      resolve(unsent(this.#isClosed ? 'closed' : 'bad-url'))
      return
    }
    const now = performance.now()
    const origin = this.#originOf(target, now)
    if (origin === undefined) {
      resolve(unsent('busy'))
      return
    }
    const attempt = new Attempt(call, target, this.#signer, resolve)
    this.#wheel.add(attempt, now, call.timeoutMs)
    origin.start(attempt)
  }

  #originOf(target: Target, now: number): Origin | undefined {
    let origin = target.origin
    if (origin === undefined || origin.isClosed) {
      origin = this.#origins.get(target.originKey, now)
      target.origin = origin
    }
    if (origin !== undefined) origin.usedAt = now
    return origin
  }
}

function unsent(word: ErrorWord): BranchAnswer {
  return { result: 'unknown', error: word }
}
