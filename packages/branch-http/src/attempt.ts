import type { BranchAnswer, BranchCall } from '@counterstep/core'
import { ANSWER_BYTES_MAX, type Result } from '@counterstep/protocol'
import type { CallSigner } from '@counterstep/signature'
import type { Client, Dispatcher } from 'undici'
import type { WheelEntry } from './deadline-wheel.ts'
import { codeOf, type ErrorWord, errorWord } from './error-word.ts'
import { excerptOf } from './excerpt.ts'
import { headersOf, signedHeadersOf } from './request-headers.ts'
import { type ParsedUrl, pathOf } from './request-line.ts'
import { retryAfterMs } from './retry-after.ts'

const INFORMATIONAL_MAX = 16

/** Who lends a connection to an attempt, and hears once of each end. */
export interface AttemptHost {
  /** The caller has its answer: no deadline and no place in a queue is needed any more. */
  settled(attempt: Attempt): void
  /** The connection is free again; it may come later than the answer. */
  released(client: Client): void
}

/**
 * One call on its way: undici's handler, the wheel's entry and the queue's link in one object, since there is one per
 * call. The answer is given once, by whichever of deadline, answer, error and close comes first.
 */
export class Attempt implements Dispatcher.DispatchHandler, WheelEntry {
  deadlineAt = 0
  wheelSlot = -1
  wheelPlace = 0
  queuePrevious: Attempt | undefined = undefined
  queueNext: Attempt | undefined = undefined
  isQueued = false
  readonly call: BranchCall
  readonly path: string
  readonly #originKey: string
  readonly #signer: CallSigner | undefined
  readonly #resolve: (answer: BranchAnswer) => void
  #host: AttemptHost | undefined = undefined
  #controller: Dispatcher.DispatchController | undefined = undefined
  #client: Client | undefined = undefined
  #isSettled = false
  #informational = 0
  #statusCode = 0
  #retryAfterMs: number | undefined = undefined
  #isEncoded = false
  #body: Buffer | undefined = undefined

  constructor(
    call: BranchCall,
    { originKey, pathStart }: ParsedUrl,
    signer: CallSigner | undefined,
    resolve: (answer: BranchAnswer) => void,
  ) {
    this.call = call
    this.#originKey = originKey
    this.path = pathOf(pathStart, call)
    this.#signer = signer
    this.#resolve = resolve
  }

  /** Set before anything can end it. */
  hostedBy(host: AttemptHost): void {
    this.#host = host
  }

  sendOn(client: Client): void {
    this.#client = client
    const { path, call } = this
    const body = call.method === 'GET' ? null : call.body
    // Not before: it may have waited for the connection, and a signature ages.
    const signer = this.#signer
    const headers =
      signer === undefined ? headersOf(call) : signedHeadersOf(call, this.#originKey + path, signer)
    client.dispatch({ path, method: call.method, headers, body }, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It ended while the connection was made: nothing may be sent after the caller was told.
    if (this.#isSettled) controller.abort(new Error('ended before it was sent'))
    else this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) {
      if (++this.#informational > INFORMATIONAL_MAX) this.#end('bad-response', controller)
      return
    }
    this.#statusCode = statusCode
    if (statusCode !== 200) this.#retryAfterMs = retryAfterMs(headers['retry-after'], Date.now)
    // Nothing is inflated (a small body may become a huge one), and packed bytes are no text to show.
    const encoding = headers['content-encoding']
    this.#isEncoded = encoding !== undefined && encoding !== 'identity'
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const body = this.#body
    if (body === undefined) this.#body = chunk
    else if (body.length <= ANSWER_BYTES_MAX || this.call.wordsCount)
      this.#body = Buffer.concat([body, chunk])
  }

  onResponseEnd(): void {
    this.#settle(this.#result('whole'), undefined)
    this.#release()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    // It is this caller that would not read on: the other side has said what it had to say, and would say it again
    // at the same length for ever. So an oversized answer counts by its status.
    if (codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
      this.#settle(this.#result('cut'), undefined)
    } else {
      this.#settle('unknown', errorWord(error))
    }
    // Not at once: undici tells of errors in the middle of emptying the client, and takes no new request there.
    queueMicrotask(() => this.#release())
  }

  /** The deadline has passed. */
  expire(): void {
    if (this.#controller !== undefined) this.#end('timeout', this.#controller)
    else this.#settle('unknown', this.#client === undefined ? 'busy' : 'connect-timeout')
  }

  /** Ends it without an answer: never sent, or its connection is about to be destroyed. */
  giveUp(word: ErrorWord): void {
    this.#settle('unknown', word)
  }

  #result(body: 'whole' | 'cut'): Result {
    const byStatus = resultOf(this.#statusCode)
    if (!this.call.wordsCount || byStatus === 'ongoing') return byStatus
    const byWord = this.#body === undefined ? undefined : resultOfWords(this.#body)
    // A word may stand in what was packed, or was not read: it might say that a 200 is none, or a 409 not yet.
    if (byWord === undefined && (this.#isEncoded || body === 'cut')) return 'unknown'
    return byWord ?? byStatus
  }

  #end(word: ErrorWord, controller: Dispatcher.DispatchController): void {
    this.#settle('unknown', word)
    controller.abort(new Error(word))
  }

  /**
   * A definite status whose body did not come whole (reset, wrong length, deadline) is unknown: an incomplete message
   * (RFC 9112, 8) may be a proxy's 200 for a service that died behind it. Asking again costs one call, which the
   * barrier absorbs; a wrong success or failure would cost money. The status is still shown to people.
   */
  #settle(result: Result, error: ErrorWord | undefined): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#host?.settled(this)
    this.#resolve(this.#answer(result, error))
    this.#body = undefined
  }

  #answer(result: Result, error: ErrorWord | undefined): BranchAnswer {
    const answer: { -readonly [field in keyof BranchAnswer]: BranchAnswer[field] } = { result }
    const excerpt = this.#body === undefined || this.#isEncoded ? undefined : excerptOf(this.#body)
    if (this.#statusCode !== 0) answer.statusCode = this.#statusCode
    if (excerpt !== undefined) answer.excerpt = excerpt
    if (error !== undefined) answer.error = error
    if (this.#retryAfterMs !== undefined) answer.retryAfterMs = this.#retryAfterMs
    return answer
  }

  #release(): void {
    const client = this.#client
    this.#controller = undefined
    this.#client = undefined
    if (client !== undefined) this.#host?.released(client)
  }
}

/** As DTM's services answer: anywhere in the body. ONGOING wins, and so does the status 425. */
function resultOfWords(body: Buffer): Result | undefined {
  if (body.includes('ONGOING')) return 'ongoing'
  return body.includes('FAILURE') ? 'failure' : undefined
}

/** By the status alone; 201 and 204 are no more success than 500 is failure. */
function resultOf(statusCode: number): Result {
  if (statusCode === 200) return 'success'
  if (statusCode === 409) return 'failure'
  if (statusCode === 425) return 'ongoing'
  return 'unknown'
}
