import type { BranchAnswer, BranchCall, BranchCaller, OriginLoad } from '@counterstep/core'
import { answerUnknown } from '../answer-result.ts'
import type { CallerOptions } from '../caller-options.ts'
import { type CallerOrigins, createCallerOrigins } from '../caller-origins.ts'
import { CheckedPayloads } from '../checked-payloads.ts'
import type { Connections } from '../origin.ts'
import { type ParsedUrl, toParsedUrl } from '../request-line.ts'
import { type Target, TargetCache, useOrigin } from '../target-cache.ts'
import {
  type CalledUrl,
  InProcessAttempt,
  type InProcessAttemptOptions,
  type OnBranchError,
} from './in-process-attempt.ts'
import type { InProcessBranch } from './in-process-branch.ts'
import type { InProcessDirectory } from './in-process-services.ts'

export interface InProcessOptions {
  readonly directory: InProcessDirectory
  readonly onError: OnBranchError
}

type FoundUrl = ParsedUrl & { readonly branch: InProcessBranch | undefined }

/**
 * Calls branches that are functions of this process. A call has the same deadline, identity, headers, results and bounds as over
 * HTTP, and no signature, since it leaves no process. A function that computes without a pause stops the orchestrator for that
 * long: its deadline cannot pass meanwhile.
 */
export class InProcessCaller implements BranchCaller {
  readonly #directory: InProcessDirectory
  readonly #keepsExcerpts: boolean
  readonly #attempts: InProcessAttemptOptions
  readonly #targets: TargetCache<FoundUrl>
  // A URL over HTTP must reach none of these, so they share no origins with the other callers.
  readonly #shared: CallerOrigins
  #isClosed = false

  constructor({ directory, onError }: InProcessOptions, options: CallerOptions) {
    const { targets, targetsMax, answerExcerpts } = options
    this.#directory = directory
    this.#keepsExcerpts = answerExcerpts
    this.#attempts = { payloads: new CheckedPayloads(), onError }
    this.#shared = createCallerOrigins(options, () => new RunningFunctions())
    this.#targets = new TargetCache(
      targetsMax,
      (url) => targets.resolve(url),
      (url, text) => ({ ...toParsedUrl(url, false), branch: directory.find(text) }),
    )
  }

  /** Tells whether a call of that URL is made here. */
  serves(url: string): boolean {
    return this.#directory.serves(url)
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    return new Promise((resolve) => {
      this.#start(call, this.#keepsExcerpts ? resolve : ({ excerpt: _, ...answer }) => resolve(answer))
    })
  }

  loads(): readonly OriginLoad[] {
    return this.#shared.origins.loads()
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#shared.origins.close()
  }

  #start(call: BranchCall, resolve: (answer: BranchAnswer) => void): void {
    const { wheel, origins } = this.#shared
    const target = this.#targets.get(call.url)
    if (this.#isClosed) {
      resolve(answerUnknown('closed'))
      return
    }
    if (typeof target === 'string') {
      resolve(answerUnknown(target))
      return
    }
    if (!hasBranch(target)) {
      resolve(answerUnknown('denied-target'))
      return
    }
    const now = performance.now()
    const origin = useOrigin(target, origins, now)
    if (origin === undefined) {
      resolve(answerUnknown('busy'))
      return
    }
    const attempt = new InProcessAttempt(call, target, this.#attempts, resolve)
    wheel.add(attempt, now, call.timeoutMs)
    origin.start(attempt)
  }
}

function hasBranch(target: Target<FoundUrl>): target is Target<CalledUrl> {
  return target.branch !== undefined
}

/** The calls of one service's functions that are under way. */
class RunningFunctions implements Connections<InProcessAttempt> {
  readonly #attempts = new Set<InProcessAttempt>()
  #whenDone: (() => void) | undefined

  dispatch(request: ReturnType<InProcessAttempt['buildRequest']>, attempt: InProcessAttempt): void {
    this.#attempts.add(attempt)
    attempt.run(request, () => {
      this.#attempts.delete(attempt)
      if (this.#attempts.size === 0) this.#whenDone?.()
    })
  }

  close(done: () => void): void {
    if (this.#attempts.size === 0) done()
    else this.#whenDone = done
  }

  destroy(): Promise<void> {
    for (const attempt of this.#attempts) attempt.fail('closed')
    return Promise.resolve()
  }
}
