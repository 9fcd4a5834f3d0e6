import { isReservedHeader } from '@counterstep/core'
import { HEADER_BYTES_MAX, HEADERS_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'

export interface BranchHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
}

const JSON_TYPE = 'application/json'
const CONTENT_TYPE = 'content-type'
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// Go's rule for a value: no control character but the tab. It sends the rest in UTF-8.
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to find control characters.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
const ASCII = /^[\t\x20-\x7e]*$/

/** Returns the headers that DTM sends with each call, where the request's own headers win. */
export function readBranchHeaders(given: Readonly<Record<string, string>>): BranchHeaders {
  const own: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (!NAME.test(name) || CONTROL.test(value)) throw refuse(`branch_headers: ${name} is not a header`)
    if (key !== CONTENT_TYPE && isReservedHeader(key))
      throw refuse(`branch_headers: ${name} is not sent to a branch`)
    // Which of them would win is not to be told from a map.
    if (key in own) throw refuse(`branch_headers: ${name} is given twice`)
    own[key] = inUtf8(value)
  }
  if (Object.keys(own).length >= HEADERS_MAX)
    throw refuseOver(`branch_headers: more than ${HEADERS_MAX - 1} headers`)
  const { [CONTENT_TYPE]: contentType = JSON_TYPE, ...headers } = own
  const sent = { accept: contentType, ...headers }
  refuseTooMuch({ ...sent, [CONTENT_TYPE]: contentType })
  return { headers: sent, contentType }
}

/**
 * The value as its UTF-8 bytes, one character for each, which is how the branch client writes a head. No character can
 * become a line break by that: each byte of one beyond ASCII is over 0x7f.
 */
function inUtf8(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}

function refuseTooMuch(headers: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > HEADER_BYTES_MAX) throw refuseOver(`branch_headers: over ${HEADER_BYTES_MAX} bytes`)
}
