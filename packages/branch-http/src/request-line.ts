import type { BranchCall } from '@counterstep/core'

/** A URL as far as it is the same for every call: whom to connect to, and the path with its own query. */
export interface ParsedUrl {
  /** Scheme, host and port. */
  readonly originKey: string
  /** As the Host field has it. */
  readonly host: string
  /** Ends in `?` or `&`, ready for the query parameters of the call. */
  readonly pathStart: string
}

export function parsedUrl(url: URL): ParsedUrl {
  const path = url.pathname + url.search
  const last = path.at(-1)
  const joint = url.search === '' ? '?' : last === '&' || last === '?' ? '' : '&'
  return { originKey: url.origin, host: url.host, pathStart: path + joint }
}

// DTM's word, which its services and their barriers know.
const TRANS_TYPES = { saga: 'saga', tcc: 'tcc', message: 'msg' } as const

/** The request target of one call. The kind and `op` are our own words and need no encoding. */
export function pathOf(pathStart: string, call: BranchCall): string {
  return `${pathStart}gid=${encode(call.gid)}&trans_type=${TRANS_TYPES[call.kind]}&branch_id=${encode(call.branchId)}&op=${call.op}`
}

const UNRESERVED = /^[\w.~-]*$/

// Most ids are unreserved (RFC 3986) from end to end: the test costs a third of encodeURIComponent.
function encode(id: string): string {
  return UNRESERVED.test(id) ? id : encodeURIComponent(id)
}
