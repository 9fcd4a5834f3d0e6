import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { type BranchAnswer, type BranchCall, NOT_SENT } from '@counterstep/core'
import { ANSWER_BYTES_MAX, type Result } from '@counterstep/protocol'
import type { CallSigner } from '@counterstep/signature'
import type { Dispatcher } from 'undici'
import { readResult, readWordResult } from './answer-result.ts'
import type { CheckedPayloads } from './checked-payloads.ts'
import { readContentCoding } from './content-coding.ts'
import { type ErrorWord, toErrorWord, toSentErrorWord } from './error-word.ts'
import { readExcerpt } from './excerpt.ts'
import { KeptBody } from './kept-body.ts'
import type { OriginAttempt } from './origin.ts'
import type { PackedRoom } from './packed-room.ts'
import { PlacedAttempt } from './placed-attempt.ts'
import { buildRequestHeaders, listOwnHeaders } from './request-headers.ts'
import { buildRequestTarget, type ParsedUrl } from './request-line.ts'
import { retryAfterMs } from './retry-after.ts'
import { isUndiciTraced } from './trace-headers.ts'
import { unpackBody } from './unpack-body.ts'
import { WordSearch } from './word-search.ts'

/** These options are the same for every attempt of a caller. */
export interface AttemptOptions {
  readonly signer: CallSigner | undefined
  readonly payloads: CheckedPayloads
  /** It bounds the bytes of a body, and those that a packed body is unpacked to. */
  readonly bodyBytesMax: number
  readonly packedRoom: PackedRoom
}

/** Keeps the bytes that people are shown, and enough more to see whether the last character is whole. */
const SHOWN_BYTES_MAX = ANSWER_BYTES_MAX + 4

/** undici reports each informational answer before the final one. An attempt ends when there are more than these. */
const INFORMATIONAL_MAX = 4
/** Each head has bounded bytes, and these bound its fields: undici makes a text of each of them. */
const FIELDS_MAX = 200
/**
 * A body may come in so many pieces, and in one more for each of so many bytes. Each piece costs a call, and a service that sends its
 * answers in chunks of one byte would take more of the event loop than all others.
 */
const PIECES_FREE = 1_024
const PIECE_BYTES_MIN = 64

/**
 * Request bodies over this size are given to undici as a stream. undici regards a connection as free when the answer is
 * whole, even if a buffer is still being written to it; a stream that is still being written ends the connection. A
 * shorter body fits into the buffers of a socket.
 */
const STREAMED_OVER_BYTES = 64 * 1024

/** It tells why undici had to end a request. Tracing tools see it; no caller does. */
class CallEndedError extends Error {
  readonly code = 'COUNTERSTEP_CALL_ENDED'

  constructor(reason: string) {
    super(`the call ended: ${reason}`)
    this.name = 'CallEndedError'
  }
}

/**
 * Holds one call that is under way. It is undici's handler, an entry of the wheel and a member of the queue in one
 * object, because a node makes so many calls. It is answered once, by the first of deadline, answer, error and close.
 */
export class Attempt
  extends PlacedAttempt<Attempt>
  implements Dispatcher.DispatchHandler, OriginAttempt<Attempt>
{
  readonly #ownHeaders: readonly string[]
  readonly #url: ParsedUrl
  readonly #signer: CallSigner | undefined
  readonly #resolve: (answer: BranchAnswer) => void
  readonly #bodyBytesMax: number
  readonly #packedRoom: PackedRoom
  #isDispatched = false
  /** It is undefined until undici begins to write the request. */
  #controller: Dispatcher.DispatchController | undefined = undefined
  #informational = 0
  #isWhole = false
  #statusCode: number | undefined = undefined
  #retryAfter: string | string[] | undefined = undefined
  #coding: string | undefined = undefined
  /** The head does not say where the body ends, so it ends with its connection. */
  #endsByClose = false
  #bodyBytes = 0
  #pieces = 0
  readonly #body = new KeptBody()
  #packedBytes = 0
  #words: WordSearch | undefined = undefined
  #unpacked: Buffer | undefined = undefined

  /** Throws what `listOwnHeaders` throws. */
  constructor(
    call: BranchCall,
    url: ParsedUrl,
    { signer, payloads, bodyBytesMax, packedRoom }: AttemptOptions,
    resolve: (answer: BranchAnswer) => void,
  ) {
    super(call)
    this.#ownHeaders = listOwnHeaders(call, payloads)
    this.#url = url
    this.#signer = signer
    this.#resolve = resolve
    this.#bodyBytesMax = bodyBytesMax
    this.#packedRoom = packedRoom
  }

  /**
   * Makes the request for undici. It is signed only now, because the attempt may have waited in the queue and a
   * signature ages.
   */
  buildRequest(): Dispatcher.DispatchOptions {
    const { method, body: text } = this.call
    const { originKey } = this.#url
    const path = buildRequestTarget(this.#url, this.call)
    const headers = buildRequestHeaders(this.call, this.#ownHeaders, originKey + path, {
      signer: this.#signer,
      leftMs: Math.max(1, Math.floor(this.deadlineAt - performance.now())),
      isTraced: isUndiciTraced(),
    })
    const body = method === 'GET' ? null : this.#requestBody(Buffer.from(text), headers)
    this.#isDispatched = true
    return { origin: originKey, path, method, headers, body }
  }

  #requestBody(bytes: Buffer, headers: string[]): Buffer | Readable {
    if (bytes.length <= STREAMED_OVER_BYTES) return bytes
    headers.push('content-length', String(bytes.length))
    return Readable.from(bytes)
  }

  /** Throws if the call may not be sent any more, so that undici writes nothing and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.mayBegin()) throw new CallEndedError('no connection in time')
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (countFields(controller, headers) > FIELDS_MAX) {
      this.#refuseAnswer(controller, 'too many headers')
      return
    }
    if (statusCode < 200) {
      this.#informational++
      if (this.#informational > INFORMATIONAL_MAX)
        this.#refuseAnswer(controller, 'too many informational answers')
      return
    }
    const transferCoding = headers['transfer-encoding']
    if (transferCoding !== undefined && String(transferCoding).trim().toLowerCase() !== 'chunked') {
      this.#refuseAnswer(controller, 'a transfer coding that was not asked for')
      return
    }
    this.#statusCode = statusCode
    this.#endsByClose = transferCoding === undefined && headers['content-length'] === undefined
    this.#retryAfter = headers['retry-after']
    this.#coding = readContentCoding(headers['content-encoding'])
  }

  /**
   * Keeps the bytes that people are shown, and all bytes of a packed body in which words decide the result, or of a
   * body whose values are used. A body over the bound, or in too small pieces, is not read to its end, and its answer counts by
   * its status, because the service would send the same again at each attempt. A body for which there is no room makes the
   * result unknown, and the next attempt may read it.
   */
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return
    const room = this.#bodyBytesMax - this.#bodyBytes
    this.#bodyBytes += chunk.length
    this.#pieces++
    const isShredded = this.#pieces > PIECES_FREE + this.#bodyBytes / PIECE_BYTES_MIN
    const isOver = chunk.length > room
    const isKept = this.#keep(isOver ? chunk.subarray(0, room) : chunk)
    if (isKept && !isOver && !isShredded) return
    // The service would be asked again at once for ever. An answer that does not count is asked for ever more seldom.
    if (isShredded && this.#isNotYet()) {
      this.#refuseAnswer(controller, 'a body in tiny pieces')
      return
    }
    if (isKept) this.#settleByAnswer('cut')
    else this.fail('unread')
    controller.abort(new CallEndedError('the answer is over the bound'))
  }

  /** Tells whether the status, or a word of DTM's services in what has come so far, says that the branch is not done yet. */
  #isNotYet(): boolean {
    return readResult(this.#statusCode) === 'ongoing' || readWordResult(this.#words) === 'ongoing'
  }

  /** Returns false if there is no room for the bytes. */
  #keep(bytes: Buffer): boolean {
    const { wordsCount } = this.call
    if (wordsCount && this.#coding !== undefined) return this.#keepWhole(bytes)
    if (wordsCount) {
      this.#words ??= new WordSearch()
      this.#words.add(bytes)
    }
    if (this.#isWanted() || (wordsCount && this.#mayEndEarly)) return this.#keepWhole(bytes)
    const shown = SHOWN_BYTES_MAX - this.#body.length
    if (shown > 0) this.#body.add(bytes.subarray(0, shown))
    return true
  }

  #keepWhole(bytes: Buffer): boolean {
    if (!this.#packedRoom.take(this.#url.originKey, bytes.length)) return false
    this.#packedBytes += bytes.length
    this.#body.add(bytes)
    return true
  }

  /**
   * Tells whether the core wants a whole body of so many bytes, because it may be a success or a failure that is used. The default is
   * what has come so far, which may be packed.
   */
  #isWanted(bodyBytes: number = this.#bodyBytes): boolean {
    const { bodyBytesKept } = this.call
    if (bodyBytesKept === undefined) return false
    const isDefinite = this.#statusCode === 200 || this.#statusCode === 409
    return isDefinite && bodyBytes <= bodyBytesKept
  }

  onResponseEnd(): void {
    this.#isWhole = !this.#mayBeCut()
    this.#settleByAnswer(this.#isWhole ? 'whole' : 'cut')
    this.host?.onEnded()
  }

  get #mayEndEarly(): boolean {
    return this.#endsByClose && this.#url.originKey.startsWith('https:')
  }

  /**
   * Tells whether a part of the body may be missing. Over TLS anyone on the way can end the connection, and Node does not tell an end
   * that TLS has announced from one that it has not. So a body that ends with its connection is whole only if it is a JSON text that is.
   */
  #mayBeCut(): boolean {
    if (!this.#mayEndEarly) return false
    const isRead = this.call.wordsCount || this.call.bodyBytesKept !== undefined
    return isRead && this.#coding === undefined && !isWholeJson(this.#body.bytes)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(this.#controller === undefined ? toErrorWord(error) : toSentErrorWord(error))
    this.host?.onEnded()
  }

  /** Ends the attempt as unknown, because there will be no answer or it was never sent. */
  fail(word: ErrorWord): void {
    this.#settle('unknown', word)
  }

  /** Ends the attempt, because its deadline has passed. */
  expire(): void {
    if (this.#controller !== undefined) {
      this.fail('timeout')
      this.#controller.abort(new CallEndedError('timeout'))
    } else {
      this.fail(this.#isDispatched ? 'connect-timeout' : 'busy')
    }
  }

  protected override withdraw(): void {
    this.#end(NOT_SENT)
  }

  #refuseAnswer(controller: Dispatcher.DispatchController, reason: string): void {
    this.fail('bad-response')
    controller.abort(new CallEndedError(reason))
  }

  #settleByAnswer(how: 'whole' | 'cut'): void {
    const byStatus = readResult(this.#statusCode)
    if (byStatus !== 'ongoing' && this.call.wordsCount) this.#settleByWords(byStatus, how)
    else {
      if (this.#isWanted()) this.#unpack(how)
      this.#settle(byStatus, undefined)
    }
  }

  /**
   * If the body cannot be read, because it is packed and broken or is over the bound, the status decides. A 409 is a
   * failure, because each further attempt would bring the same bytes. Only a 200 is not believed, because the body may
   * say FAILURE, and taking such an answer for success would cost money. The call is made again, and people see why.
   */
  #settleByWords(byStatus: Result, how: 'whole' | 'cut'): void {
    this.#unpack(how)
    const body = this.#plainBody()
    const byWord = readWordResult(this.#words)
    if (byWord !== undefined) this.#settle(byWord, undefined)
    else if (byStatus === 'success' && (body === undefined || how === 'cut'))
      this.#settle('unknown', 'unread')
    else this.#settle(byStatus, undefined)
  }

  #unpack(how: 'whole' | 'cut'): void {
    const coding = this.#coding
    if (coding === undefined || how === 'cut') return
    const { wordsCount, bodyBytesKept = 0 } = this.call
    this.#unpacked = unpackBody(this.#body.bytes, coding, wordsCount ? this.#bodyBytesMax : bodyBytesKept)
    if (this.#unpacked === undefined || !wordsCount) return
    this.#words = new WordSearch()
    this.#words.add(this.#unpacked)
  }

  /** Returns the body from which text can be read. It is undefined if the body came packed and was not unpacked. */
  #plainBody(): Buffer | undefined {
    return this.#coding === undefined ? this.#body.bytes : this.#unpacked
  }

  /**
   * A definite status whose body did not come whole (reset, wrong length, deadline) is unknown: an incomplete message
   * (RFC 9112, 8) may be a proxy's 200 for a service that died behind it. Asking again costs one call, which the
   * barrier absorbs; a wrong success or failure would cost money. The status is still shown to people.
   */
  #settle(result: Result, error: ErrorWord | undefined): void {
    if (!this.isSettled) this.#end(this.#answer(result, error))
  }

  #end(answer: BranchAnswer): void {
    this.isSettled = true
    if (this.#packedBytes > 0) this.#packedRoom.give(this.#url.originKey, this.#packedBytes)
    this.host?.onSettled(this)
    this.#resolve(answer)
  }

  #answer(result: Result, error: ErrorWord | undefined): BranchAnswer {
    const answer: { -readonly [field in keyof BranchAnswer]: BranchAnswer[field] } = { result }
    const statusCode = this.#statusCode
    if (statusCode !== undefined) {
      answer.statusCode = statusCode
      // Packed bytes are not text to show, and no body is unpacked only to be shown.
      const body = this.#plainBody()
      // A whole URL is a secret, and some servers repeat it in an answer of their own.
      const excerpt = body === undefined || this.#url.isWhole ? undefined : readExcerpt(body)
      if (excerpt !== undefined) answer.excerpt = excerpt
      const isUsed = result !== 'unknown' && this.#isWhole && this.#isWanted()
      if (isUsed && body !== undefined && this.#isWanted(body.length) && isUtf8(body))
        answer.body = body.toString('utf8')
      const waitMs = statusCode === 200 ? undefined : retryAfterMs(this.#retryAfter, Date.now)
      if (waitMs !== undefined) answer.retryAfterMs = waitMs
    }
    if (error !== undefined) answer.error = error
    return answer
  }
}

/** Counts the fields of a head as they came, since several of one name are one entry of the object. */
function countFields({ rawHeaders }: Dispatcher.DispatchController, headers: IncomingHttpHeaders): number {
  return Array.isArray(rawHeaders) ? rawHeaders.length / 2 : Object.keys(headers).length
}

/** A JSON object or array does not parse when its end is missing. */
function isWholeJson(body: Buffer): boolean {
  try {
    return typeof JSON.parse(body.toString('utf8')) === 'object'
  } catch {
    return false
  }
}
