import { findBadMetadata, isReservedHeader } from '@counterstep/core'
import { HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { GRPC } from './branch-url.ts'

export interface BranchHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
}

const JSON_TYPE = 'application/json'
const CONTENT_TYPE = 'content-type'
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// This is Go's rule for a value: it holds no control character except the tab. Go sends the rest in UTF-8.
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to find control characters.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
const ASCII = /^[\t\x20-\x7e]*$/

/**
 * Returns the headers that each branch call has. The request's own headers replace DTM's defaults. Where branches may be called over
 * gRPC, it refuses a header that such a call cannot carry, because the call would fail for ever.
 */
export function readBranchHeaders(given: Readonly<Record<string, string>>, protocol: string): BranchHeaders {
  if (Object.keys(given).length >= HEADERS_MAX)
    throw refuseUnprocessable(`branch_headers: more than ${HEADERS_MAX - 1} headers`)
  const own: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (!NAME.test(name) || CONTROL.test(value)) throw refuseHeader(name, 'is not a header')
    if (key !== CONTENT_TYPE && isReservedHeader(key)) throw refuseHeader(name, 'is not sent to a branch')
    // Two names that differ only in letter case are one header, and DTM's choice between the two values is random.
    if (key in own) throw refuseHeader(name, 'is given twice')
    own[key] = toUtf8(value)
  }
  const { [CONTENT_TYPE]: contentType = JSON_TYPE, ...headers } = own
  const sent = { accept: contentType, ...headers }
  refuseTooMuch({ ...sent, [CONTENT_TYPE]: contentType })
  const bad = protocol === GRPC ? findBadMetadata(headers) : undefined
  if (bad !== undefined)
    throw refuseUnprocessable(`branch_headers: a call over gRPC cannot carry ${cutRepeated(bad)}`)
  return { headers: sent, contentType }
}

/**
 * Returns the value's UTF-8 bytes as a text of one character for each byte, because the branch client writes a header
 * that way. No character can become a line break by this: every UTF-8 byte of a character beyond ASCII is over 0x7f.
 */
function toUtf8(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}

function refuseHeader(name: string, why: string) {
  return refuse(`branch_headers: ${cutRepeated(name)} ${why}`)
}

function refuseTooMuch(headers: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > HEADER_BYTES_MAX) throw refuseUnprocessable(`branch_headers: over ${HEADER_BYTES_MAX} bytes`)
}
