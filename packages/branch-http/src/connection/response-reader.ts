import { ChunkedBody } from './chunked-body.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

/** Who is told of a response as it comes. */
export interface ResponseListener {
  onHead(head: ResponseHead): void
  /** The bytes are its only until it returns. */
  onBody(bytes: Buffer): void
}

export interface ReaderLimits {
  readonly headBytesMax: number
  readonly bodyBytesMax: number
}

/**
 * `more`: the response goes on. `whole`: it has come to its end. `cut`: its body is over the bound, and is not read on.
 * `bad-response`: it is no HTTP/1. `too-large`: its head is over the bound.
 */
export type Reading = 'more' | 'whole' | 'cut' | 'bad-response' | 'too-large'

const HEAD_END = '\r\n\r\n'
const HEAD_START = 'HTTP/1.'
const INFORMATIONAL_MAX = 16
/** Of a head that is remembered, in characters. */
const KNOWN_HEAD_LENGTH_MAX = 1_024

/**
 * Reads one response after the other from the bytes of a connection. It is strict: what two readers could take for two
 * different messages is none (RFC 9112, 11.2), since a wrong success costs more than a call that is made again.
 */
export class ResponseReader {
  readonly #limits: ReaderLimits
  #listener: ResponseListener | undefined = undefined
  #reading: Reading = 'more'
  #head: ResponseHead | undefined = undefined
  #headText = ''
  /** The last head, and its lines. */
  #knownHead: ResponseHead | undefined = undefined
  #knownLines = ''
  #informational = 0
  #bodyBytes = 0
  #chunks: ChunkedBody | undefined = undefined

  constructor(limits: ReaderLimits) {
    this.#limits = limits
  }

  /** The final one of the response that is read, once it is there. */
  get head(): ResponseHead | undefined {
    return this.#head
  }

  /** From here on comes another response. */
  begin(listener: ResponseListener): void {
    this.#listener = listener
    this.#reading = 'more'
    this.#head = undefined
    this.#headText = ''
    this.#informational = 0
    this.#bodyBytes = 0
    this.#chunks = undefined
  }

  /** Reads `bytes` as far as the response goes, and answers how far that is: below `end` there are bytes after it. */
  read(bytes: Buffer, end: number): number {
    let at = 0
    while (at < end && this.#reading === 'more') {
      at = this.#head === undefined ? this.#readHead(bytes, at, end) : this.#readBody(bytes, at, end)
    }
    // An idle connection keeps nothing of its last call but its head.
    if (this.#reading !== 'more') this.#listener = undefined
    return at
  }

  get reading(): Reading {
    return this.#reading
  }

  /** Nothing more comes: whether the response is whole by that. */
  endsWhole(): boolean {
    return this.#reading === 'more' && this.#head?.body === 'until-close'
  }

  #readHead(bytes: Buffer, start: number, end: number): number {
    const before = this.#headText.length
    const text = this.#headText + bytes.toString('latin1', start, end)
    const lines = text.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1))
    const size = lines < 0 ? text.length : lines + HEAD_END.length
    if (size > this.#limits.headBytesMax) return this.#endAs('too-large', end)
    if (lines < 0) {
      this.#headText = text
      // What speaks another protocol may wait for us for ever.
      return isHeadStart(text) ? end : this.#endAs('bad-response', end)
    }
    const head = this.#parse(text.slice(0, lines + 2))
    if (head === undefined) return this.#endAs('bad-response', end)
    this.#headText = ''
    this.#take(head)
    return start + size - before
  }

  /** A service's next head is mostly its last one: within a second its date is, too. */
  #parse(lines: string): ResponseHead | undefined {
    if (lines === this.#knownLines) return this.#knownHead
    const head = parseHead(lines)
    if (lines.length <= KNOWN_HEAD_LENGTH_MAX) {
      this.#knownHead = head
      // A copy: these are a slice of a text with the begin of the body, and would keep it.
      this.#knownLines = Buffer.from(lines, 'latin1').toString('latin1')
    }
    return head
  }

  #take(head: ResponseHead): void {
    if (head.statusCode < 200) {
      // One that ends the connection, a switch of protocols that nobody asked for, or answers before the answer for ever.
      const isWrong = head.isLast || head.statusCode === 101
      if (isWrong || ++this.#informational > INFORMATIONAL_MAX) this.#reading = 'bad-response'
      return
    }
    this.#head = head
    this.#listener?.onHead(head)
    if (head.body === 'none' || (head.body === 'length' && head.bodyBytes === 0)) this.#reading = 'whole'
    else if (head.body === 'chunked') this.#chunks = new ChunkedBody(this.#limits.headBytesMax)
  }

  #readBody(bytes: Buffer, start: number, end: number): number {
    const chunks = this.#chunks
    if (chunks !== undefined) return this.#readChunks(chunks, bytes, start, end)
    const isUntilClose = this.#head?.body === 'until-close'
    const left = isUntilClose ? end - start : (this.#head?.bodyBytes ?? 0) - this.#bodyBytes
    const to = Math.min(end, start + left)
    if (this.#tell(bytes, start, to) && !isUntilClose && to - start === left) this.#reading = 'whole'
    return to
  }

  #readChunks(chunks: ChunkedBody, bytes: Buffer, start: number, end: number): number {
    const at = chunks.read(bytes, start, end, (from, to) => this.#tell(bytes, from, to))
    if (at < 0) return this.#endAs('bad-response', end)
    if (chunks.isWhole) this.#reading = 'whole'
    return at
  }

  /** False where the body is over the bound by these. */
  #tell(bytes: Buffer, from: number, to: number): boolean {
    const room = this.#limits.bodyBytesMax - this.#bodyBytes
    const isOver = to - from > room
    this.#listener?.onBody(bytes.subarray(from, isOver ? from + room : to))
    this.#bodyBytes += to - from
    if (isOver) this.#reading = 'cut'
    return !isOver
  }

  #endAs(reading: Reading, end: number): number {
    this.#reading = reading
    return end
  }
}

function isHeadStart(text: string): boolean {
  return text.length < HEAD_START.length ? HEAD_START.startsWith(text) : text.startsWith(HEAD_START)
}
