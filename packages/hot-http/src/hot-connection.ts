import type { Socket } from 'node:net'
import { HotRequest } from './hot-request.ts'
import { type AnswerTaker, HotResponse } from './hot-response.ts'
import { type RequestHead, readHead } from './read-head.ts'
import { UnreadBytes } from './unread-bytes.ts'

export interface HotLimits {
  /** For the first byte of a connection, and then for one whole request. */
  readonly requestTimeoutMs: number
  /** For an answer, and then for its reader. */
  readonly idleTimeoutMs: number
  /** What clients are told may pass between an answer and the next request. */
  readonly keepAliveTimeoutMs: number
  readonly requestsPerSocketMax: number
}

export interface RequestLine {
  readonly method: string
  readonly url: string
}

/** What the connections of a server share. */
export interface ConnectionParts {
  /** By the first line of a request, without its CRLF. */
  readonly requestLines: ReadonlyMap<string, RequestLine>
  readonly limits: HotLimits
  readonly keepAliveLines: string
  onRequest(request: HotRequest, response: HotResponse): void
  /** Node's server reads on, beginning with `unread`. */
  onHandOver(connection: HotConnection, unread: Buffer): void
  /** What was sent is no whole request, or came too slowly: the socket is to be answered and ended. */
  onFault(socket: Socket, code: 'ERR_HTTP_REQUEST_TIMEOUT' | 'HPE_INVALID_EOF_STATE'): void
  onClosed(connection: HotConnection): void
}

/** A request whose head was read. */
interface Begun {
  readonly line: RequestLine
  readonly head: RequestHead
  readonly headBytes: number
}

const LINE_END = '\r\n'
const HEAD_END = '\r\n\r\n'
/** Node's own bound is 16 KiB. */
const HEAD_BYTES_MAX = 8 * 1024
/** It is held before anybody has been asked for a key. */
const BODY_BYTES_MAX = 64 * 1024
/** Of requests behind one that waits for its answer: with more no more is asked for, though the stream reads some ahead. */
const UNREAD_BYTES_MAX = 64 * 1024
/** A client that keeps to what it was told does not meet the end of its connection. Node allows it as much. */
const KEEP_ALIVE_MARGIN_MS = 1_000

/**
 * A connection, for as long as each request on it is a plain one of a hot route whose head is there when it is looked at.
 * With the first that is not, Node's server takes it over.
 */
export class HotConnection implements AnswerTaker {
  readonly socket: Socket
  readonly #parts: ConnectionParts
  readonly #unread = new UnreadBytes()
  #begun: Begun | undefined
  /** What waits for its answer. */
  #exchange: { readonly request: HotRequest; readonly response: HotResponse } | undefined
  #requestsTaken = 0
  #isTaking = false
  /** From a request until its answer is on its way, and for good after the last answer or a fault. */
  #isBusy = false
  /** The other side sends no more. */
  #isEnded = false
  #isHandedOver = false
  /** By performance.now(): for a request, for the rest of one, for an answer, or for its reader. */
  #waitsSince = performance.now()
  readonly #listeners = {
    data: (chunk: Buffer) => this.#onData(chunk),
    end: () => this.#onEnd(),
    // What is to be done follows with 'close'.
    error: () => undefined,
    close: () => this.#onClose(),
  }

  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket
    this.#parts = parts
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener)
  }

  /** Whether it has had an answer, and waits for nothing but another request. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#requestsTaken > 0 && this.#unread.length === 0
  }

  get keepAliveLines(): string | undefined {
    const isLast =
      this.#requestsTaken >= this.#parts.limits.requestsPerSocketMax ||
      (this.#isEnded && this.#unread.length === 0)
    return isLast ? undefined : this.#parts.keepAliveLines
  }

  /** Ends it if it has waited for longer than its limits allow. */
  checkAt(now: number): void {
    const { limits, onFault } = this.#parts
    const waitedMs = now - this.#waitsSince
    if (this.#isBusy) {
      if (waitedMs > limits.idleTimeoutMs) this.destroy()
    } else if (this.isIdle) {
      if (waitedMs > limits.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS) this.destroy()
    } else if (waitedMs > limits.requestTimeoutMs) {
      this.#isBusy = true
      this.#waitsSince = now
      onFault(this.socket, 'ERR_HTTP_REQUEST_TIMEOUT')
    }
  }

  send(text: string): boolean {
    if (!this.socket.writable) return false
    // The same bytes for less, where each character is one.
    this.socket.write(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')
    return true
  }

  answered(isLast: boolean): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#waitsSince = performance.now()
    try {
      exchange?.request.emit('close')
      exchange?.response.emit('close')
    } finally {
      if (!this.socket.destroyed) this.#afterAnswer(isLast)
    }
  }

  destroy(): void {
    this.socket.destroy()
  }

  #onData(chunk: Buffer): void {
    if (!this.#isBusy && this.#unread.length === 0) this.#waitsSince = performance.now()
    this.#unread.add(chunk)
    if (!this.#isBusy) this.#takeAll()
    else if (this.#unread.length > UNREAD_BYTES_MAX) this.socket.pause()
  }

  #onEnd(): void {
    this.#isEnded = true
    if (!this.#isBusy) this.#endUnasked()
  }

  #onClose(): void {
    this.#parts.onClosed(this)
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.request.abort()
    exchange?.response.emit('close')
  }

  /** Nobody asks any more; or what came is not whole, or would be Node's, which can take over nothing that has ended. */
  #endUnasked(): void {
    this.#isBusy = true
    this.#waitsSince = performance.now()
    if (!this.#unread.isBlank) this.#parts.onFault(this.socket, 'HPE_INVALID_EOF_STATE')
    else this.socket.end()
  }

  #afterAnswer(isLast: boolean): void {
    if (isLast) this.socket.destroySoon()
    else if (this.socket.writableNeedDrain) this.socket.once('drain', () => this.#goOn())
    else this.#goOn()
  }

  #goOn(): void {
    this.#isBusy = false
    this.#waitsSince = performance.now()
    if (!this.#isTaking) this.#takeAll()
  }

  /** A loop, since an answer may be given at once, to as many requests as one read can hold. */
  #takeAll(): void {
    this.#isTaking = true
    try {
      let hasTaken = true
      while (hasTaken && !this.#isBusy && this.#unread.length > 0) hasTaken = this.#takeOne()
    } finally {
      this.#isTaking = false
    }
    if (this.#isHandedOver) return
    if (this.#isEnded && !this.#isBusy) this.#endUnasked()
    const hasRoom = !this.#isBusy || this.#unread.length <= UNREAD_BYTES_MAX
    if (hasRoom && this.socket.isPaused()) this.socket.resume()
  }

  #takeOne(): boolean {
    this.#begun ??= this.#begin()
    if (this.#begun === undefined) {
      if (!this.#isEnded) this.#handOver()
      return false
    }
    const { line, head, headBytes } = this.#begun
    const wholeBytes = headBytes + head.bodyBytes
    if (this.#unread.length < wholeBytes) return false
    const bytes = this.#unread.take(wholeBytes)
    this.#begun = undefined
    this.#requestsTaken += 1
    this.#isBusy = true
    this.#waitsSince = performance.now()
    const body = bytes.subarray(headBytes)
    const request = new HotRequest(line, head.headers, body, this.socket)
    const response = new HotResponse(this, this.socket)
    this.#exchange = { request, response }
    try {
      this.#parts.onRequest(request, response)
    } catch (error: unknown) {
      // Not into the answer to the request before, in which this one may have been taken.
      this.destroy()
      process.nextTick(() => {
        throw error
      })
    }
    return true
  }

  #begin(): Begun | undefined {
    const bytes = this.#unread.joined()
    const end = bytes.indexOf(HEAD_END)
    if (end < 0 || end > HEAD_BYTES_MAX) return undefined
    const text = bytes.toString('latin1', 0, end + LINE_END.length)
    const lineEnd = text.indexOf(LINE_END)
    const line = this.#parts.requestLines.get(text.slice(0, lineEnd))
    if (line === undefined) return undefined
    const head = readHead(text.slice(lineEnd + LINE_END.length))
    if (head === undefined || head.bodyBytes > BODY_BYTES_MAX) return undefined
    return { line, head, headBytes: end + HEAD_END.length }
  }

  #handOver(): void {
    // Node's server listens anew.
    for (const [event, listener] of Object.entries(this.#listeners)) this.socket.off(event, listener)
    this.#isHandedOver = true
    this.#parts.onHandOver(this, this.#unread.joined())
  }
}
