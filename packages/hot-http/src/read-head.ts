/** What stands before a body (RFC 9112, 3 to 6). */
export interface RequestHead {
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string>>
  /** Zero where there is none. */
  readonly bodyBytes: number
}

const FIELD_LINE =
  /([!#$%&'*+\-.^_`|~\dA-Za-z]+):[\t ]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)[\t ]*\r\n/y
const LENGTH = /^\d{1,10}$/
/** Node leaves out those above 1,000. */
const FIELDS_MAX = 100

/**
 * From the field lines of a request, each with its CRLF. Undefined for all but the plain case, about which no two
 * parsers differ: ASCII, no field twice, no empty one, a `Host`, a body by its length or none, a connection that stays.
 */
export function readHead(fieldLines: string): RequestHead | undefined {
  const headers: { [name: string]: string; host?: string } = {}
  let at = 0
  let fields = 0
  while (at < fieldLines.length) {
    fields += 1
    if (fields > FIELDS_MAX) return undefined
    FIELD_LINE.lastIndex = at
    const field = FIELD_LINE.exec(fieldLines)
    if (field === null) return undefined
    const name = (field[1] ?? '').toLowerCase()
    const value = field[2] ?? ''
    // `in` also meets the names that every object has.
    if (name in headers || !isPlain(name, value)) return undefined
    headers[name] = value
    at = FIELD_LINE.lastIndex
  }
  if (headers.host === undefined) return undefined
  return { headers, bodyBytes: Number(headers['content-length'] ?? 0) }
}

/** False for what says that the message, or the connection after it, is not the usual one. */
function isPlain(name: string, value: string): boolean {
  switch (name) {
    case 'connection':
      return value.toLowerCase() === 'keep-alive'
    case 'content-length':
      return LENGTH.test(value)
    case 'expect':
    // Node's parser takes it for `connection`.
    case 'proxy-connection':
    case 'trailer':
    case 'te':
    case 'transfer-encoding':
    case 'upgrade':
      return false
    default:
      return true
  }
}
