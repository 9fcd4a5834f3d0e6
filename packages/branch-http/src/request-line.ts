import type { BranchCall } from '@counterstep/core'

/** A URL as far as it is the same for every call: the origin to connect to, and the path with its own query. */
export interface ParsedUrl {
  /** Scheme, host and port. */
  readonly originKey: string
  /** The path, without the query. */
  readonly path: string
  /** The URL's own query, to be put behind the identity of the call: `&` and the query, or nothing. */
  readonly ownQuery: string
}

export function toParsedUrl(url: URL): ParsedUrl {
  const ownQuery = url.search === '' ? '' : `&${url.search.slice(1)}`
  return { originKey: url.origin, path: url.pathname, ownQuery }
}

// DTM's word, which its services and their barriers know.
const TRANS_TYPES = { saga: 'saga', tcc: 'tcc', message: 'msg' } as const

/**
 * The request target of one call. The identity of the call stands before the URL's own query: some parsers stop after
 * a number of parameters, and some keep the first of two values. The kind and `op` are our own words and need no encoding.
 */
export function requestTarget({ path, ownQuery }: ParsedUrl, call: BranchCall): string {
  return `${path}?gid=${encode(call.gid)}&trans_type=${TRANS_TYPES[call.kind]}&branch_id=${encode(call.branchId)}&op=${call.op}${ownQuery}`
}

const UNRESERVED = /^[\w.~-]*$/

// Most ids are unreserved (RFC 3986) from end to end: the test costs a third of encodeURIComponent.
function encode(id: string): string {
  return UNRESERVED.test(id) ? id : encodeURIComponent(id)
}
