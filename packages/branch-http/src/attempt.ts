import type { BranchAnswer, BranchCall } from '@counterstep/core'
import { ANSWER_BYTES_MAX, type Result } from '@counterstep/protocol'
import type { CallSigner } from '@counterstep/signature'
import type { Connection, Exchange } from './connection/connection.ts'
import type { ResponseHead } from './connection/response-head.ts'
import type { WheelEntry } from './deadline-wheel.ts'
import type { ErrorWord } from './error-word.ts'
import { excerptOf } from './excerpt.ts'
import { KeptBody } from './kept-body.ts'
import { type ParsedUrl, requestTarget } from './request-line.ts'
import { ownFields, type RequestText, requestText } from './request-text.ts'
import { retryAfterMs } from './retry-after.ts'
import { unpackBody } from './unpack-body.ts'

/** The same for every attempt of a caller. */
export interface AttemptOptions {
  readonly signer: CallSigner | undefined
  /** Bounds what a packed body is unpacked to. */
  readonly bodyBytesMax: number
}

/** Who finds a connection for an attempt. */
export interface AttemptHost {
  /** The caller has its answer: no deadline and no place in a queue is needed any more. */
  settled(attempt: Attempt): void
}

/**
 * One call on its way: the connection's exchange, the wheel's entry and the queue's link in one object, since there is
 * one per call. The answer is given once, by whichever of deadline, answer, error and close comes first.
 */
export class Attempt implements Exchange, WheelEntry {
  deadlineAt = 0
  wheelSlot = -1
  wheelPlace = 0
  queuePrevious: Attempt | undefined = undefined
  queueNext: Attempt | undefined = undefined
  isQueued = false
  isSettled = false
  readonly #call: BranchCall
  readonly #ownFields: string
  readonly #url: ParsedUrl
  readonly #signer: CallSigner | undefined
  readonly #resolve: (answer: BranchAnswer) => void
  readonly #bodyBytesMax: number
  #host: AttemptHost | undefined = undefined
  #connection: Connection | undefined = undefined
  #isSent = false
  #head: ResponseHead | undefined = undefined
  readonly #body = new KeptBody()
  #unpacked: Buffer | undefined = undefined

  /** Throws what `ownFields` throws. */
  constructor(
    call: BranchCall,
    url: ParsedUrl,
    { signer, bodyBytesMax }: AttemptOptions,
    resolve: (answer: BranchAnswer) => void,
  ) {
    this.#call = call
    this.#ownFields = ownFields(call)
    this.#url = url
    this.#signer = signer
    this.#resolve = resolve
    this.#bodyBytesMax = bodyBytesMax
  }

  /** Set before anything can end it. */
  hostedBy(host: AttemptHost): void {
    this.#host = host
  }

  /** The connection that will carry it, which may not stand yet. */
  goesBy(connection: Connection): void {
    this.#connection = connection
  }

  /** Signed only now: it may have waited for the connection, and a signature ages. */
  request(): RequestText {
    const { originKey, host } = this.#url
    const place = { origin: originKey, host, path: requestTarget(this.#url, this.#call) }
    const text = requestText(this.#call, this.#ownFields, place, this.#signer)
    this.#isSent = true
    return text
  }

  onHead(head: ResponseHead): void {
    this.#head = head
  }

  /** Kept are the bytes that people are shown; and where words count, all. */
  onBody(bytes: Buffer): void {
    if (this.#body.length <= ANSWER_BYTES_MAX || this.#call.wordsCount) this.#body.add(bytes)
  }

  /**
   * A body over the bound: it is this caller that would not read on. The other side has said what it had to say, and
   * would say it again at the same length for ever. So such an answer counts by its status.
   */
  onEnd(how: 'whole' | 'cut'): void {
    const byStatus = resultOf(this.#head?.statusCode)
    if (!this.#call.wordsCount || byStatus === 'ongoing') this.#settle(byStatus, undefined)
    else this.#settleByWords(byStatus, how)
  }

  /** There will be no answer, or it was never sent. */
  onFailed(word: ErrorWord): void {
    this.#settle('unknown', word)
  }

  /** The deadline has passed. */
  expire(): void {
    if (this.#isSent) {
      this.#settle('unknown', 'timeout')
      this.#connection?.end('timeout')
    } else {
      this.#settle('unknown', this.#connection === undefined ? 'busy' : 'connect-timeout')
    }
  }

  /**
   * A body that cannot be read (packed and broken, or over the bound) leaves the status: a 409 is a failure, since
   * asking again would bring the same bytes for ever. Only a 200 is not believed, because a FAILURE in it that is taken
   * for success would cost money; it is asked again, and people see why.
   */
  #settleByWords(byStatus: Result, how: 'whole' | 'cut'): void {
    this.#unpack(how)
    const body = this.#plainBody()
    const byWord = body === undefined ? undefined : resultOfWords(body)
    if (byWord !== undefined) this.#settle(byWord, undefined)
    else if (byStatus === 'success' && (body === undefined || how === 'cut'))
      this.#settle('unknown', 'unread')
    else this.#settle(byStatus, undefined)
  }

  #unpack(how: 'whole' | 'cut'): void {
    const coding = this.#head?.coding
    if (coding === undefined || how === 'cut') return
    this.#unpacked = unpackBody(this.#body.bytes, coding, this.#bodyBytesMax)
  }

  /** The body as text can be read from it. Undefined where it came packed and was not unpacked. */
  #plainBody(): Buffer | undefined {
    return this.#head?.coding === undefined ? this.#body.bytes : this.#unpacked
  }

  /**
   * A definite status whose body did not come whole (reset, wrong length, deadline) is unknown: an incomplete message
   * (RFC 9112, 8) may be a proxy's 200 for a service that died behind it. Asking again costs one call, which the
   * barrier absorbs; a wrong success or failure would cost money. The status is still shown to people.
   */
  #settle(result: Result, error: ErrorWord | undefined): void {
    if (this.isSettled) return
    this.isSettled = true
    this.#host?.settled(this)
    this.#resolve(this.#answer(result, error))
  }

  #answer(result: Result, error: ErrorWord | undefined): BranchAnswer {
    const answer: { -readonly [field in keyof BranchAnswer]: BranchAnswer[field] } = { result }
    const head = this.#head
    if (head !== undefined) {
      const { statusCode, retryAfter } = head
      answer.statusCode = statusCode
      // Packed bytes are no text to show, and nothing is unpacked only to be shown.
      const body = this.#plainBody()
      const excerpt = body === undefined ? undefined : excerptOf(body)
      if (excerpt !== undefined) answer.excerpt = excerpt
      const waitMs = statusCode === 200 ? undefined : retryAfterMs(retryAfter, Date.now)
      if (waitMs !== undefined) answer.retryAfterMs = waitMs
    }
    if (error !== undefined) answer.error = error
    return answer
  }
}

/** As DTM's services answer: anywhere in the body. ONGOING wins, and so does the status 425. */
function resultOfWords(body: Buffer): Result | undefined {
  if (body.includes('ONGOING')) return 'ongoing'
  return body.includes('FAILURE') ? 'failure' : undefined
}

/** By the status alone; 201 and 204 are no more success than 500 is failure. */
function resultOf(statusCode: number | undefined): Result {
  if (statusCode === 200) return 'success'
  if (statusCode === 409) return 'failure'
  if (statusCode === 425) return 'ongoing'
  return 'unknown'
}
