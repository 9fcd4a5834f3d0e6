import { copyText, HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { type Faults, isRecord, pointerStep } from './faults.ts'

export type Headers = Readonly<Record<string, string>>

export const NO_HEADERS: Headers = {}

// These follow RFC 9110, sections 5.6.2 (token) and 5.5 (field value, without obs-text).
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const NAME_LENGTH_MAX = 256
const TOO_MANY = `has more than ${HEADERS_MAX} headers`
const TOO_LONG = `is over ${HEADER_BYTES_MAX} bytes`
/** The connection, the branch caller or the orchestrator itself sets these headers. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'content-digest',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'cookie',
  // CGI turns it into the variable HTTP_PROXY, and many HTTP clients then
  // send the service's own requests through that proxy.
  'proxy',
  // Some frameworks route by these headers instead of the request line.
  'x-original-url',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
])
/** DTM's client for PHP reads the identity of a call from `dtm-gid` and similar headers before it reads the query. */
const RESERVED_PREFIX = /^(proxy-|counterstep-|dtm-|signature)/
const FOLDED = /[^a-z0-9]/g

/**
 * Whether clients may not set a header, given by its name in lower case. A service behind CGI, WSGI or PHP cannot tell
 * `counterstep_gid` and `counterstep.gid` from `counterstep-gid`, so every such spelling is taken for the name with dashes.
 */
export function isReservedHeader(name: string): boolean {
  const folded = name.replaceAll(FOLDED, '-')
  return RESERVED.has(folded) || RESERVED_PREFIX.test(folded)
}

/**
 * Reads headers with names in lower case. A header that cannot be sent is refused
 * here, because at send time the call would fail for ever.
 */
export function parseHeaders(
  value: unknown,
  path: string,
  faults: Faults,
  inherited: Headers = NO_HEADERS,
): Headers {
  if (value === undefined) return inherited
  if (!isRecord(value)) {
    faults.add('SAGA_HEADER_INVALID', path, 'must be an object of strings')
    return inherited
  }
  // Each branch inherits the headers of its transaction, so thousands of them would be read for each.
  if (Object.keys(value).length > HEADERS_MAX) {
    faults.add('SAGA_HEADER_INVALID', path, TOO_MANY)
    return inherited
  }
  const own: Record<string, string> = Object.create(null)
  for (const [name, text] of Object.entries(value)) {
    const lower = name.toLowerCase()
    const refusal = lower in own ? 'is given twice' : refuseHeader(name, lower, text)
    if (refusal === undefined) own[lower] = trimText(String(text))
    else faults.add('SAGA_HEADER_INVALID', `${path}/${pointerStep(name)}`, refusal)
  }
  const headers = inherited === NO_HEADERS ? own : { ...inherited, ...own }
  refuseExcess(headers, path, faults)
  return headers
}

function refuseHeader(name: string, lower: string, text: unknown): string | undefined {
  if (!NAME.test(name) || name.length > NAME_LENGTH_MAX) return 'is not a header name'
  if (isReservedHeader(lower)) return 'is a reserved header'
  // The blanks around a value count, too, since it is no use to read a million of them.
  if (typeof text === 'string' && text.length > HEADER_BYTES_MAX) return TOO_LONG
  if (typeof text !== 'string' || !isHeaderValue(text))
    return 'must be a string of printable ASCII characters'
  return undefined
}

/** A text that is trimmed keeps its blanks in memory, so what is left is copied. */
function trimText(text: string): string {
  const value = text.trim()
  return value.length === text.length ? text : copyText(value)
}

export function isHeaderValue(text: string): boolean {
  return VALUE.test(text)
}

function refuseExcess(headers: Headers, path: string, faults: Faults): void {
  for (const excess of findExcess(headers)) faults.add('SAGA_HEADER_INVALID', path, excess)
}

/**
 * Finds how the headers of a call exceed the limits. A receiver that refuses a long header section refuses it for ever.
 */
export function findExcess(headers: Headers): readonly string[] {
  const entries = Object.entries(headers)
  const bytes = entries.reduce((sum, [name, text]) => sum + name.length + text.length, 0)
  return [
    ...(entries.length > HEADERS_MAX ? [TOO_MANY] : []),
    ...(bytes > HEADER_BYTES_MAX ? [TOO_LONG] : []),
  ]
}
