import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { type BranchAnswer, type BranchCall, NOT_SENT } from '@counterstep/core'
import { GRPC_CONTENT_TYPE } from '@counterstep/protocol'
import { type ErrorWord, toErrorWord, toSentErrorWord } from '../error-word.ts'
import { readExcerpt } from '../excerpt.ts'
import type { OriginAttempt } from '../origin.ts'
import { PlacedAttempt } from '../placed-attempt.ts'
import { BadRequestError } from '../request-headers.ts'
import { buildMetadata, type Destination } from './call-metadata.ts'
import { type GrpcStatus, readGrpcStatus, toResult, toStatusCode } from './grpc-status.ts'

/** The flag of a message that is not packed, and four bytes for its length. */
const PREFIX_BYTES = 5
/** An attempt ends when there are more informational answers than these. */
const INFORMATIONAL_MAX = 4
const CANCEL = 8
/** A peer that reads nothing may not even let a call be cancelled, and loses its connection after this time. */
const CANCEL_MS_MAX = 1_000
const END_STREAM = 1
const HTTP_OK = 200

export interface AnswerBounds {
  readonly answerBytesMax: number
  /** It holds for the head of an answer and again for its end. Each field counts 32 bytes beside its own. */
  readonly headerBytesMax: number
}

export interface GrpcRequest {
  readonly metadata: ReturnType<typeof buildMetadata>
  readonly message: Buffer
}

/**
 * Holds one call over gRPC that is under way. It is answered once, by the first of deadline, answer, error and close. The
 * bytes of the answer are counted and dropped: only the status decides.
 */
export class GrpcAttempt extends PlacedAttempt<GrpcAttempt> implements OriginAttempt<GrpcAttempt> {
  readonly #destination: Destination
  readonly #bounds: AnswerBounds
  readonly #resolve: (answer: BranchAnswer) => void
  /** Ends the wait for a connection. */
  #leave: (() => void) | undefined = undefined
  #stream: ClientHttp2Stream | undefined = undefined
  #abandon: (() => void) | undefined = undefined
  #cancelTimer: NodeJS.Timeout | undefined = undefined
  #hasEnded = false
  #informational = 0
  #answerBytes = 0
  /** It came with the frame that ends the answer. */
  #status: GrpcStatus | undefined = undefined
  /** The service has ended the answer, and not the connection. */
  #isWhole = false

  constructor(
    call: BranchCall,
    destination: Destination,
    bounds: AnswerBounds,
    resolve: (answer: BranchAnswer) => void,
  ) {
    super(call)
    this.#destination = destination
    this.#bounds = bounds
    this.#resolve = resolve
  }

  /** Throws BadRequestError, also if the body is no message of gRPC, because an operator has edited it. */
  buildRequest(): GrpcRequest {
    const { body, contentType } = this.call
    if (body !== '' && contentType !== GRPC_CONTENT_TYPE) throw new BadRequestError()
    const metadata = buildMetadata(this.call, this.#destination, this.deadlineAt - performance.now())
    const bytes = Buffer.from(body, 'base64')
    const message = Buffer.allocUnsafe(PREFIX_BYTES + bytes.length)
    message.writeUInt8(0, 0)
    message.writeUInt32BE(bytes.length, 1)
    bytes.copy(message, PREFIX_BYTES)
    return { metadata, message }
  }

  /** The attempt waits for a connection. `leave` takes it out of there. */
  waitForConnection(leave: () => void): void {
    this.#leave = leave
  }

  /** Sends the request, and ends with the stream. `abandon` ends the whole connection. */
  send(stream: ClientHttp2Stream, message: Buffer, abandon: () => void): void {
    this.#leave = undefined
    this.#stream = stream
    this.#abandon = abandon
    stream.on('headers', () => {
      this.#informational++
      if (this.#informational > INFORMATIONAL_MAX) this.#refuseAnswer('bad-response')
    })
    stream.on('response', (headers, flags) => this.#readHead(headers, (flags & END_STREAM) !== 0))
    stream.on('trailers', (trailers) => {
      if (countBytes(trailers) > this.#bounds.headerBytesMax) this.#refuseAnswer('too-large')
      else this.#status = readGrpcStatus(trailers)
    })
    stream.on('data', (chunk: Buffer) => {
      this.#answerBytes += chunk.length
      if (this.#answerBytes > this.#bounds.answerBytesMax) this.#refuseAnswer('too-large')
    })
    stream.once('end', () => {
      this.#isWhole = stream.session?.destroyed === false
    })
    stream.on('error', (error) => this.fail(toSentErrorWord(error)))
    stream.once('close', () => {
      this.#settleByStatus(stream.rstCode)
      this.#end()
    })
    stream.end(message)
  }

  /** Ends the attempt, which was never sent. */
  refuse(error: unknown): void {
    this.fail(toErrorWord(error))
    this.leaveUnsent()
  }

  /** Gives the place back of a call that was answered and never sent. */
  leaveUnsent(): void {
    this.#leave = undefined
    this.#end()
  }

  fail(word: ErrorWord): void {
    this.#settle({ result: 'unknown', error: word })
  }

  /** Ends the attempt, because its deadline has passed. */
  expire(): void {
    const leave = this.#leave
    if (this.#stream !== undefined) this.#refuseAnswer('timeout')
    else this.fail(leave === undefined ? 'busy' : 'connect-timeout')
    if (leave === undefined) return
    this.#leave = undefined
    leave()
    this.#end()
  }

  protected override withdraw(): void {
    this.#settle(NOT_SENT)
  }

  /** The status of gRPC counts in a head only if that is the whole answer, because a later one may say otherwise. */
  #readHead(
    headers: IncomingHttpHeaders & { readonly ':status'?: number | undefined },
    isWholeAnswer: boolean,
  ): void {
    if (countBytes(headers) > this.#bounds.headerBytesMax) {
      this.#refuseAnswer('too-large')
      return
    }
    // A proxy in front of the service answers in plain HTTP, and may pass on the status of an older answer.
    if (headers[':status'] !== HTTP_OK) this.#refuseAnswer('bad-response')
    else if (isWholeAnswer) this.#status = readGrpcStatus(headers)
  }

  #refuseAnswer(word: ErrorWord): void {
    this.fail(word)
    this.#stream?.close(CANCEL)
    if (this.#hasEnded || this.#cancelTimer !== undefined) return
    this.#cancelTimer = setTimeout(() => this.#abandon?.(), CANCEL_MS_MAX).unref()
  }

  /** An answer that did not come whole is unknown, even if its status came. */
  #settleByStatus(rstCode: number | undefined): void {
    const status = this.#status
    if (rstCode !== 0) this.fail('reset')
    else if (status !== undefined) this.#settle(toAnswer(status))
    else this.fail(this.#isWhole ? 'bad-response' : 'reset')
  }

  #settle(answer: BranchAnswer): void {
    if (this.isSettled) return
    this.isSettled = true
    this.host?.onSettled(this)
    this.#resolve(answer)
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#cancelTimer)
    this.host?.onEnded()
  }
}

const FIELD_BYTES = 32

function countBytes(headers: IncomingHttpHeaders): number {
  return Object.entries(headers).reduce(
    (sum, [name, value = '']) => sum + FIELD_BYTES + name.length + String(value).length,
    0,
  )
}

function toAnswer(status: GrpcStatus): BranchAnswer {
  const result = toResult(status)
  const statusCode = toStatusCode(result)
  const excerpt = readExcerpt(Buffer.from(status.message))
  return {
    result,
    ...(statusCode === undefined ? { error: `grpc-${status.code}` } : { statusCode }),
    ...(excerpt === undefined ? {} : { excerpt }),
  }
}
