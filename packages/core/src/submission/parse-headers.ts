import { HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { type Faults, isRecord, pointerStep } from './faults.ts'

export type Headers = Readonly<Record<string, string>>

export const NO_HEADERS: Headers = {}

// RFC 9110, section 5.6.2 (token) and 5.5 (field value, without obs-text).
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/
/** What the connection, the caller or the orchestrator itself decides. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'cookie',
])
const RESERVED_PREFIX = /^(proxy-|counterstep-|signature)/

/** Names in lower case. A header that could not be sent is refused here: found at send time, it would never end. */
export function parseHeaders(value: unknown, path: string, faults: Faults): Headers {
  if (value === undefined) return NO_HEADERS
  if (!isRecord(value)) {
    faults.add('SAGA_HEADER_INVALID', path, 'must be an object of strings')
    return NO_HEADERS
  }
  const headers: Record<string, string> = Object.create(null)
  let bytes = 0
  for (const [name, text] of Object.entries(value)) {
    const place = `${path}/${pointerStep(name)}`
    const lower = name.toLowerCase()
    if (!NAME.test(name) || name.length > 256)
      faults.add('SAGA_HEADER_INVALID', place, 'is not a header name')
    else if (RESERVED.has(lower) || RESERVED_PREFIX.test(lower)) {
      faults.add('SAGA_HEADER_INVALID', place, 'is a reserved header')
    } else if (lower in headers) faults.add('SAGA_HEADER_INVALID', place, 'is given twice')
    else if (typeof text !== 'string' || !VALUE.test(text)) {
      faults.add('SAGA_HEADER_INVALID', place, 'must be a string of printable ASCII characters')
    } else {
      headers[lower] = text.trim()
      bytes += name.length + text.length
    }
  }
  refuseExcess(headers, bytes, path, faults)
  return headers
}

function refuseExcess(headers: Headers, bytes: number, path: string, faults: Faults): void {
  if (Object.keys(headers).length > HEADERS_MAX) {
    faults.add('SAGA_HEADER_INVALID', path, `has more than ${HEADERS_MAX} headers`)
  }
  if (bytes > HEADER_BYTES_MAX) faults.add('SAGA_HEADER_INVALID', path, `is over ${HEADER_BYTES_MAX} bytes`)
}
