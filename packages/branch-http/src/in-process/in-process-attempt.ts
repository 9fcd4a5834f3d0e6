import { type BranchAnswer, type BranchCall, NOT_SENT } from '@counterstep/core'
import { isJsonType } from '@counterstep/protocol'
import { answerUnknown } from '../answer-result.ts'
import type { CheckedPayloads } from '../checked-payloads.ts'
import type { ErrorWord } from '../error-word.ts'
import type { OriginAttempt } from '../origin.ts'
import { PlacedAttempt } from '../placed-attempt.ts'
import { BadRequestError, buildRequestHeaders, listOwnHeaders } from '../request-headers.ts'
import { buildRequestTarget, type ParsedUrl } from '../request-line.ts'
import type { InProcessBranch, InProcessCall } from './in-process-branch.ts'
import { readAnswer } from './read-answer.ts'

/** A function that throws is as a service that answers this. */
const THROWN: BranchAnswer = { result: 'unknown', statusCode: 500 }

/** The function that is called for a URL. */
export type CalledUrl = ParsedUrl & { readonly branch: InProcessBranch }

/** Is told each error of a branch that is no answer to its caller, also one that comes too late. It must not throw. */
export type OnBranchError = (error: unknown, call: BranchCall) => void

export interface InProcessAttemptOptions {
  readonly payloads: CheckedPayloads
  readonly onError: OnBranchError
}

/**
 * A function that goes on after its deadline keeps its place for this long, since nothing can end it: without that, calls that are
 * made again and again would pile up functions without a bound.
 */
const LATE_MS_MAX = 60_000

/**
 * Holds one call of a function that is under way. It is answered once, by the first of deadline, answer, error and close. It gives its
 * place back when the function has ended.
 */
export class InProcessAttempt
  extends PlacedAttempt<InProcessAttempt>
  implements OriginAttempt<InProcessAttempt>
{
  readonly #target: CalledUrl
  readonly #options: InProcessAttemptOptions
  readonly #resolve: (answer: BranchAnswer) => void
  readonly #controller = new AbortController()
  #onEnded: (() => void) | undefined = undefined
  #hasEnded = false
  #onLateEnd: (() => void) | undefined = undefined
  #lateTimer: NodeJS.Timeout | undefined = undefined

  constructor(
    call: BranchCall,
    target: CalledUrl,
    options: InProcessAttemptOptions,
    resolve: (answer: BranchAnswer) => void,
  ) {
    super(call)
    this.#target = target
    this.#options = options
    this.#resolve = resolve
  }

  /** Throws BadRequestError for headers and payloads that no request could carry. */
  buildRequest(): InProcessCall {
    const own = listOwnHeaders(this.call, this.#options.payloads)
    const url = buildRequestTarget(this.#target, this.call)
    const leftMs = Math.max(1, Math.floor(this.deadlineAt - performance.now()))
    const headers = buildRequestHeaders(this.call, own, url, { signer: undefined, leftMs, isTraced: false })
    return {
      url,
      headers: toRecord(headers),
      payload: readPayload(this.call),
      signal: this.#controller.signal,
    }
  }

  /** Calls the function. `onEnded` is told when its place is free. */
  run(given: InProcessCall, onEnded: () => void): void {
    this.#onEnded = onEnded
    // A result may throw when it is read, which counts as if the function had thrown.
    const answering = invoke(this.#target.branch, given).then((answered) => readAnswer(this.call, answered))
    answering.then(
      ({ answer, error }) => {
        this.#settle(answer)
        this.#end()
        if (error !== undefined) this.#options.onError(error, this.call)
      },
      (error: unknown) => {
        this.#settle(THROWN)
        this.#end()
        this.#options.onError(error, this.call)
      },
    )
  }

  /** Ends the attempt, because its deadline has passed. */
  expire(): void {
    this.fail(this.#onEnded === undefined ? 'busy' : 'timeout')
  }

  fail(word: ErrorWord): void {
    const isRunning = this.#onEnded !== undefined && !this.#hasEnded
    // The engine is told before it has the answer, after which it may look at what still runs.
    if (isRunning && !this.isSettled) this.call.onOverrun?.(this.#waitForEnd())
    this.#settle(answerUnknown(word))
    this.#controller.abort()
    if (isRunning) this.#lateTimer ??= setTimeout(() => this.#end(), LATE_MS_MAX).unref()
  }

  protected override withdraw(): void {
    this.#settle(NOT_SENT)
  }

  #settle(answer: BranchAnswer): void {
    if (this.isSettled) return
    this.isSettled = true
    this.host?.onSettled(this)
    this.#resolve(answer)
  }

  #waitForEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLateEnd = resolve
    })
  }

  #end(): void {
    const onEnded = this.#onEnded
    if (onEnded === undefined || this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#lateTimer)
    onEnded()
    this.host?.onEnded()
    this.#onLateEnd?.()
  }
}

/** A function that throws before its first pause rejects as well. */
async function invoke(branch: InProcessBranch, call: InProcessCall): Promise<unknown> {
  return await branch(call)
}

/** Each call has a payload of its own, as over HTTP, so that no function sees what another one has changed. */
function readPayload({ method, contentType, body }: BranchCall): unknown {
  if (method === 'GET') return undefined
  if (!isJsonType(contentType)) return Buffer.from(body)
  try {
    return body === '' ? undefined : JSON.parse(body)
  } catch {
    throw new BadRequestError()
  }
}

function toRecord(headers: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) record[headers[at] ?? ''] = headers[at + 1] ?? ''
  return record
}
