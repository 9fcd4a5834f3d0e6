import { HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'

export interface BranchHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
}

const JSON_TYPE = 'application/json'
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** They are the connection's, not the request's; a cookie belongs to a browser. */
const NOT_SENT = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'cookie',
])

/** What DTM sends with each call, where the request's own headers win. */
export function readBranchHeaders(given: Readonly<Record<string, string>>): BranchHeaders {
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (!NAME.test(name) || !VALUE.test(value)) throw refuse(`branch_headers: ${name} is not a header`)
    if (NOT_SENT.has(key) || key.startsWith('proxy-'))
      throw refuse(`branch_headers: ${name} is not sent to a branch`)
    own[key] = value
  }
  refuseTooMany(own)
  const { 'content-type': contentType = JSON_TYPE, ...headers } = own
  return { headers: { accept: contentType, ...headers }, contentType }
}

function refuseTooMany(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers)
  if (entries.length >= HEADERS_MAX) throw refuseOver(`branch_headers: more than ${HEADERS_MAX - 1} headers`)
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > HEADER_BYTES_MAX) throw refuseOver(`branch_headers: over ${HEADER_BYTES_MAX} bytes`)
}
