/** What a response says of itself before its body (RFC 9112, 4 to 6), as far as anybody here asks. */
export interface ResponseHead {
  readonly statusCode: number
  readonly body: 'none' | 'length' | 'chunked' | 'until-close'
  /** Of a body with a length. */
  readonly bodyBytes: number
  /** The connection carries no other response after this one. */
  readonly isLast: boolean
  /** How long the other side keeps an idle connection, if it says so. */
  readonly keepAliveMs: number | undefined
  readonly retryAfter: string | undefined
  /** How the body is packed, in lower case. Undefined: it is not. */
  readonly coding: string | undefined
}

const STATUS_LINE = /HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/y
const FIELD_LINE = /([!#$%&'*+\-.^_`|~\dA-Za-z]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y
const LENGTH = /^\d{1,15}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,6})/i

const TAB = 9
const BLANK = 32

/** Without the blanks around it that a field's value may have. `trim` takes others too, which are part of the value. */
function bare(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB
}

/** Whether it is one field, with its CRLF, and nothing else. */
export function isFieldLine(line: string): boolean {
  FIELD_LINE.lastIndex = 0
  return FIELD_LINE.test(line) && FIELD_LINE.lastIndex === line.length
}

/** Some servers name what is no coding at all, and send the body as it is. Any other name is taken for packed. */
const NOT_PACKED: ReadonlySet<string> = new Set(['identity', '', 'none', 'utf-8', 'utf8', 'aws-chunked'])

/** The fields that count here, gathered line by line. */
class Fields {
  length: number | undefined = undefined
  isChunked = false
  hasClose = false
  hasKeepAlive = false
  keepAliveMs: number | undefined = undefined
  retryAfter: string | undefined = undefined
  coding: string | undefined = undefined

  /**
   * False where where the body ends would be a matter of opinion: two lengths, or a coding besides `chunked`, which
   * nobody asked for. (RFC 9112, 6.3: such a message may be an attempt at smuggling.)
   */
  add(name: string, value: string): boolean {
    switch (name.length) {
      case 10:
        this.#addConnection(name.toLowerCase(), value)
        return true
      case 11:
        if (name.toLowerCase() === 'retry-after') this.retryAfter ??= bare(value)
        return true
      case 14:
        return name.toLowerCase() !== 'content-length' || this.#setLength(bare(value))
      case 16:
        if (name.toLowerCase() === 'content-encoding') this.#addCoding(bare(value).toLowerCase())
        return true
      case 17:
        return name.toLowerCase() !== 'transfer-encoding' || this.#setChunked(bare(value))
      default:
        return true
    }
  }

  #addConnection(name: string, value: string): void {
    if (name === 'connection') {
      for (const option of value.toLowerCase().split(',')) {
        const word = bare(option)
        if (word === 'close') this.hasClose = true
        else if (word === 'keep-alive') this.hasKeepAlive = true
      }
    } else if (name === 'keep-alive') {
      const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1]
      if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1000
    }
  }

  #addCoding(coding: string): void {
    if (!NOT_PACKED.has(coding))
      this.coding = this.coding === undefined ? coding : `${this.coding}, ${coding}`
  }

  #setLength(value: string): boolean {
    if (this.length !== undefined || !LENGTH.test(value)) return false
    this.length = Number(value)
    return true
  }

  #setChunked(value: string): boolean {
    if (this.isChunked || value.toLowerCase() !== 'chunked') return false
    this.isChunked = true
    return true
  }
}

/**
 * From the lines of a head, each with its CRLF, without the empty one; each character is a byte. Undefined where they
 * are no HTTP/1.0 or 1.1: then nothing on this connection can be believed.
 */
export function parseHead(lines: string): ResponseHead | undefined {
  STATUS_LINE.lastIndex = 0
  const status = STATUS_LINE.exec(lines)
  if (status === null) return undefined
  const fields = new Fields()
  let at = STATUS_LINE.lastIndex
  while (at < lines.length) {
    FIELD_LINE.lastIndex = at
    const field = FIELD_LINE.exec(lines)
    if (field === null || !fields.add(field[1] ?? '', field[2] ?? '')) return undefined
    at = FIELD_LINE.lastIndex
  }
  return headOf(Number(status[2]), status[1] === '0', fields)
}

function headOf(statusCode: number, isOld: boolean, fields: Fields): ResponseHead | undefined {
  const { length, isChunked, hasClose, hasKeepAlive, keepAliveMs, retryAfter, coding } = fields
  if (isChunked && (isOld || length !== undefined)) return undefined
  const isBodiless = statusCode < 200 || statusCode === 204 || statusCode === 304
  const body = isBodiless ? 'none' : bodyOf(fields)
  // A server that gives a 204 a body would have it read as the next response.
  const hasSpare = isBodiless && (isChunked || (length ?? 0) > 0)
  return {
    statusCode,
    body,
    bodyBytes: length ?? 0,
    isLast: hasClose || (isOld && !hasKeepAlive) || body === 'until-close' || hasSpare,
    keepAliveMs,
    retryAfter,
    coding,
  }
}

function bodyOf({ isChunked, length }: Fields): ResponseHead['body'] {
  if (isChunked) return 'chunked'
  return length === undefined ? 'until-close' : 'length'
}
