import type { BranchCall } from '@counterstep/core'

/**
 * Holds the parts of a URL that are the same for every call: the origin to connect to, the path, and the URL's own
 * query.
 */
export interface ParsedUrl {
  /** Scheme, host and port. */
  readonly originKey: string
  /** It is the path without the query. */
  readonly path: string
  /** It is `&` and the URL's own query, which follows the identity of the call. It is empty if the URL has no query. */
  readonly ownQuery: string
  /** The URL is called as it is. The headers alone tell the identity of the call. */
  readonly isWhole: boolean
}

export function toParsedUrl(url: URL, isWhole: boolean): ParsedUrl {
  const ownQuery = url.search === '' ? '' : `&${url.search.slice(1)}`
  return { originKey: url.origin, path: url.pathname, ownQuery, isWhole }
}

// These are DTM's words for the kinds, which its services and their barriers know. Only the handler of a workflow sees
// its word: for every other service the call of a workflow is one of a saga.
export const TRANS_TYPES = {
  saga: 'saga',
  tcc: 'tcc',
  message: 'msg',
  workflow: 'workflow',
  xa: 'xa',
} as const

/**
 * Builds the request target of one call. The identity of the call stands before the URL's own query, because some parsers
 * stop after a number of parameters, and some keep the first of two values. The kind and `op` need no encoding.
 */
export function buildRequestTarget({ path, ownQuery, isWhole }: ParsedUrl, call: BranchCall): string {
  if (isWhole) return ownQuery === '' ? path : `${path}?${ownQuery.slice(1)}`
  return `${path}?gid=${encode(call.gid)}&trans_type=${TRANS_TYPES[call.kind]}&branch_id=${encode(call.branchId)}&op=${call.op}${ownQuery}`
}

const UNRESERVED = /^[\w.~-]*$/

// Most ids have only unreserved characters (RFC 3986), and this test takes a third of the time of encodeURIComponent.
function encode(id: string): string {
  return UNRESERVED.test(id) ? id : encodeURIComponent(id)
}
