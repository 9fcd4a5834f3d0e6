import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { dateLine } from './date-line.ts'
import { Listeners } from './listeners.ts'

// Not imported: that would load the built-in fetch as well, 40 ms of every start.
const { STATUS_CODES, validateHeaderValue } = process.getBuiltinModule('node:http')

/** Who sends an answer. */
export interface AnswerTaker {
  /** The lines of a head that say how long the connection stays; undefined: its last answer is this one. */
  readonly keepAliveLines: string | undefined
  /** Answers whether somebody is there to read it. */
  send(text: string): boolean
  /** Everything about the answer has been done. */
  answered(isLast: boolean): void
  destroy(): void
}

/** The answer to a `HotRequest`, as far as fastify asks for Node's ServerResponse: a head, then one text or none. */
export class HotResponse extends Listeners {
  statusCode = 200
  headersSent = false
  writableEnded = false
  readonly socket: Socket
  readonly #taker: AnswerTaker
  readonly #headers: OutgoingHttpHeaders = {}
  #head = ''
  #isLast = false

  constructor(taker: AnswerTaker, socket: Socket) {
    super()
    this.#taker = taker
    this.socket = socket
  }

  get destroyed(): boolean {
    return this.socket.destroyed
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    this.#headers[name.toLowerCase()] = value
    return this
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers[name.toLowerCase()]
  }

  getHeaders(): OutgoingHttpHeaders {
    return { ...this.#headers }
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined
  }

  removeHeader(name: string): void {
    delete this.#headers[name.toLowerCase()]
  }

  /** Names in lower case. Throws what Node throws for a value that would break the head, or is none, and for a second head. */
  writeHead(statusCode: number, headers: OutgoingHttpHeaders = {}): this {
    if (this.headersSent) throw headersSent()
    const fields = { ...this.#headers, ...headers }
    let head = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? 'unknown'}\r\n`
    for (const name in fields) {
      if (name !== 'connection') head += linesOf(name, fields[name])
    }
    const { keepAliveLines } = this.#taker
    this.#isLast = String(fields.connection).toLowerCase() === 'close' || keepAliveLines === undefined
    const last = this.#isLast ? 'Connection: close\r\n' : keepAliveLines
    this.#head = `${head}${dateLine()}${last}\r\n`
    this.statusCode = statusCode
    this.headersSent = true
    return this
  }

  /** What has no head yet gets one by `statusCode` and `setHeader`. Throws for anything but a text or nothing. */
  end(text?: string | null): this {
    if (this.writableEnded) return this
    const body = text ?? ''
    if (typeof body !== 'string') throw new TypeError('a hot route answers with one text')
    if (!this.headersSent) this.writeHead(this.statusCode, { 'content-length': Buffer.byteLength(body) })
    this.writableEnded = true
    try {
      if (this.#taker.send(this.#head + body)) this.emit('finish')
    } finally {
      this.#taker.answered(this.#isLast)
    }
    return this
  }

  /** The connection, which after the answer is not this response's any more. */
  destroy(): this {
    if (!this.writableEnded) this.#taker.destroy()
    return this
  }
}

function linesOf(name: string, value: OutgoingHttpHeader | undefined): string {
  if (Array.isArray(value)) return value.map((one: string) => linesOf(name, one)).join('')
  // Which is refused where there is none.
  validateHeaderValue(name, value as string)
  return `${name}: ${value}\r\n`
}

function headersSent(): Error {
  return Object.assign(new Error('the head has been sent'), { code: 'ERR_HTTP_HEADERS_SENT' })
}
