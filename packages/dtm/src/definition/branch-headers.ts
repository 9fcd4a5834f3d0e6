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
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** What DTM sends with each call, where the request's own headers win. */
export function readBranchHeaders(given: Readonly<Record<string, string>>): BranchHeaders {
  const own: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (!NAME.test(name) || !VALUE.test(value)) throw refuse(`branch_headers: ${name} is not a header`)
    if (key !== CONTENT_TYPE && isReservedHeader(key))
      throw refuse(`branch_headers: ${name} is not sent to a branch`)
    // Which of them would win is not to be told from a map.
    if (key in own) throw refuse(`branch_headers: ${name} is given twice`)
    own[key] = value
  }
  if (Object.keys(own).length >= HEADERS_MAX)
    throw refuseOver(`branch_headers: more than ${HEADERS_MAX - 1} headers`)
  const { [CONTENT_TYPE]: contentType = JSON_TYPE, ...headers } = own
  const sent = { accept: contentType, ...headers }
  refuseTooMuch({ ...sent, [CONTENT_TYPE]: contentType })
  return { headers: sent, contentType }
}

function refuseTooMuch(headers: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > HEADER_BYTES_MAX) throw refuseOver(`branch_headers: over ${HEADER_BYTES_MAX} bytes`)
}
