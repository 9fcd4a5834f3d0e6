/**
 * Which branch op a call is, is said by four query parameters that the orchestrator writes. A caller who submits a URL
 * chooses the rest of the query, so no parameter of theirs may be read as one of these four, by any parser that a
 * service may use. This file holds both sides of that rule: what a submitted URL must not contain, and how a service
 * reads the four from the request target.
 */

/** They stand in this order, before the URL's own parameters: many parsers keep the first of two values. */
export const IDENTITY_PARAMETERS = ['gid', 'trans_type', 'branch_id', 'op'] as const

export type IdentityParameter = (typeof IDENTITY_PARAMETERS)[number]

export type CallIdentity = Readonly<Record<IdentityParameter, string>>

/** The headers that repeat the identity. A signature covers them. The kind is `saga`, `tcc` or `message`. */
export const IDENTITY_HEADERS = {
  gid: 'counterstep-gid',
  branchId: 'counterstep-branch-id',
  op: 'counterstep-op',
  kind: 'counterstep-kind',
} as const

/** Parsers stop after some number of parameters (qs and `node:querystring` after 1,000) and drop the rest. */
export const URL_PARAMETERS_MAX = 32

const PARAMETERS: ReadonlySet<string> = new Set(IDENTITY_PARAMETERS)
/** A `;` separates parameters too for some servers: Python before 3.10, Rack, and Fastify 4 even in the path. */
const SEPARATOR = /[?&;]/
const PLAIN_NAME = /^[\w-]*$/
const ESCAPE = /%[0-9a-f]{2}/i
const ESCAPES = /(?:%[0-9a-f]{2})+/gi
const ASCII = /^[\0-\x7f]*$/
/** No common parser takes other characters for a part of a name: brackets, dots, spaces and NUL end it or fold. */
const BETWEEN_WORDS = /[^\w-]+/

/**
 * Why a URL cannot be called, as a phrase to put behind "the URL"; undefined where nothing in it could be taken for the
 * identity of a call. `target` is the path and the query, or the whole URL. The phrase repeats no part of the URL.
 */
export function findUrlFault(target: string): string | undefined {
  const pieces = target.split(SEPARATOR)
  if (pieces.length === 1 && !target.includes('%')) return undefined
  if (pieces.length - 1 > URL_PARAMETERS_MAX)
    return `must not have more than ${URL_PARAMETERS_MAX} parameters`
  for (const piece of [...pieces.slice(1), ...hiddenPieces(target)]) {
    const fault = findNameFault(nameIn(piece))
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * The identity in a request target as it stands in the request line, or in an absolute URL. Each parameter must be there
 * once, spelt plainly, and nothing else may fold into one of them, or the answer is a fault.
 */
export function readCallIdentity(target: string): CallIdentity | { readonly fault: string } {
  const [plainTarget = ''] = target.split('#', 1)
  const queryAt = plainTarget.indexOf('?')
  const path = queryAt < 0 ? plainTarget : plainTarget.slice(0, queryAt)
  for (const piece of [...path.split(SEPARATOR).slice(1), ...hiddenPieces(path)]) {
    const fault = findNameFault(nameIn(piece))
    if (fault !== undefined) return { fault }
  }
  return queryAt < 0 ? { fault: 'has no query' } : readQuery(plainTarget.slice(queryAt + 1))
}

function readQuery(query: string): CallIdentity | { readonly fault: string } {
  const found: Partial<Record<IdentityParameter, string>> = {}
  for (const piece of query.split(SEPARATOR)) {
    const name = nameIn(piece)
    if (!isIdentityParameter(name)) {
      const fault = findNameFault(name)
      if (fault !== undefined) return { fault }
      continue
    }
    if (found[name] !== undefined) return { fault: `has ${name} more than once` }
    const value = decodeValue(piece.slice(name.length + 1))
    if (value === undefined) return { fault: `has a ${name} that cannot be decoded` }
    found[name] = value
  }
  const missing = IDENTITY_PARAMETERS.find((name) => !found[name])
  if (missing !== undefined) return { fault: `has no ${missing}` }
  return found as CallIdentity
}

/** A router or a proxy may decode a path before it looks for the query. */
function hiddenPieces(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  if (!path.includes('%')) return []
  return (decodeText(path) ?? path).split(SEPARATOR).slice(1)
}

function nameIn(piece: string): string {
  const end = piece.indexOf('=')
  return end < 0 ? piece : piece.slice(0, end)
}

function findNameFault(written: string): string | undefined {
  if (PLAIN_NAME.test(written)) return refuseReserved(written.toLowerCase())
  const name = decodeText(written)
  // Folding of case and width, best-fit tables and lenient UTF-8 readers all need a sign beyond ASCII.
  if (name === undefined || !ASCII.test(name)) return 'must not have a parameter whose name is not ASCII'
  if (ESCAPE.test(name)) return 'must not have a parameter whose name is encoded twice'
  const [first = '', second = ''] = name
    .toLowerCase()
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '')
  // PHP makes an underscore of a dot, a space and a single bracket.
  return refuseReserved(first) ?? refuseReserved(`${first}_${second}`)
}

function refuseReserved(name: string): string | undefined {
  if (!PARAMETERS.has(name)) return undefined
  return `must not have a parameter that may be read as ${name}: each call adds its own`
}

function isIdentityParameter(name: string): name is IdentityParameter {
  return PARAMETERS.has(name)
}

/** Undefined where the bytes are not UTF-8. An escape that is none stays as it is, as with most parsers. */
function decodeText(text: string): string | undefined {
  try {
    return text.replaceAll('+', ' ').replace(ESCAPES, (escapes) => decodeURIComponent(escapes))
  } catch (error: unknown) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function decodeValue(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error: unknown) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
