/**
 * Four query parameters, which the orchestrator writes, tell a service which op of which branch a call is. The client
 * that submits a URL chooses the rest of the query, so no parser that a service may use must read one of the client's
 * parameters as one of these four. This file holds both sides of that rule: what a submitted URL must not contain,
 * and how a service reads the four parameters from the request target.
 */

/** They stand in this order, before the URL's own parameters: many parsers keep the first of two values. */
export const IDENTITY_PARAMETERS = ['gid', 'trans_type', 'branch_id', 'op'] as const

export type IdentityParameter = (typeof IDENTITY_PARAMETERS)[number]

export type CallIdentity = Readonly<Record<IdentityParameter, string>>

/** The branch id of a call that belongs to the transaction itself and to none of its branches: a query-back, or a plan call. */
export const OWN_CALL_ID = '00'

/** The headers that repeat the identity. A signature covers them. The kind is `saga`, `tcc` or `message`, or `workflow` in the calls to the handler of a workflow. */
export const IDENTITY_HEADERS = {
  gid: 'counterstep-gid',
  branchId: 'counterstep-branch-id',
  op: 'counterstep-op',
  kind: 'counterstep-kind',
} as const

/** Parsers stop after some number of parameters (qs and `node:querystring` after 1,000) and drop the rest. */
export const URL_PARAMETERS_MAX = 32

const PARAMETERS: ReadonlySet<string> = new Set(IDENTITY_PARAMETERS)
/** Some servers take a `;` for a separator too: Python before 3.10, Rack, and Fastify even in the path. */
const SEPARATOR = /[?&;#]/
/** A text without any of these characters has no name, and nothing to decode. */
const HAS_NAMES = /[?&;#%]/
const AMPERSAND = 0x26
const SEMICOLON = 0x3b
const QUESTION_MARK = 0x3f
const NUMBER_SIGN = 0x23
const EQUALS_SIGN = 0x3d
const PERCENT_SIGN = 0x25
const NOT_ASCII = 0x80
/** A function gets at most this many arguments at once. */
const ARGUMENTS_MAX = 8_192
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i
const BROKEN_ESCAPE_FAULT = 'must not have a % that begins no escape'
/** An escape that System.Web of .NET Framework decodes. */
const UNICODE_ESCAPE = /%u[0-9a-f]{4}/i
const ESCAPED_CONTROL = /%(?:[01][0-9a-f]|7f)/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to find control characters.
const CONTROL = /[\0-\x1f\x7f]/
const ASCII = /^[\0-\x7f]*$/
/**
 * Finds one of the four names as a word of its own. Its groups have the order of the names. Common parsers take only
 * letters, digits, `_` and `-` for parts of a name. Brackets, dots, spaces and NUL end the name or become another
 * character: PHP makes an underscore of a dot, a space and a single bracket.
 */
const RESERVED = /(?<![\w-])(?:(gid)|(trans(?:_|[^\w&-]+)type)|(branch(?:_|[^\w&-]+)id)|(op))(?![\w-])/i
/** Proxies and parsers on the way may each decode once more than they should. */
const DECODINGS_MAX = 3

/**
 * Returns why a URL cannot be called, as a phrase to put behind "the URL". Returns undefined if nothing in the URL
 * could be taken for the identity of a call. `target` is the path and the query, or the whole URL. The phrase repeats
 * no part of it.
 */
export function findUrlFault(target: string): string | undefined {
  if (target.split(SEPARATOR).length - 1 > URL_PARAMETERS_MAX)
    return `must not have more than ${URL_PARAMETERS_MAX} parameters`
  return findTextFault(target, 'url')
}

/**
 * Returns why a payload cannot be sent, as a phrase to put behind "the body". Frameworks merge the fields of a form with
 * the query, and the form often wins. Some of them look for the name of a form's type anywhere in the header. A content
 * type with another charset than UTF-8 makes some of them read even the query in that charset, in which a separator may
 * look like a letter.
 */
export function findPayloadFault(contentType: string, body: string): string | undefined {
  if (contentType === 'application/json') return undefined
  const type = readContentType(contentType)
  if (type === undefined) {
    return 'must have a content type of the form type/subtype, with no charset or with charset=utf-8'
  }
  if (type.includes('multipart')) return 'must not be multipart: a service may read its fields as parameters'
  return FORM.test(type) ? findTextFault(`?${body}`, 'form') : undefined
}

const FORM = /url-?encoded/
const PRINTABLE = /^[\t\x20-\x7e]*$/
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/
const TYPE_PARAMETER = /^[!#$%&'*+.^_`|~\w-]+=(?:[!#$%&'*+.^_`|~\w-]+|"[^"\\]*")$/
const CHARSETS = new Set(
  ['utf-8', 'utf8', 'us-ascii'].flatMap((charset) => [`charset=${charset}`, `charset="${charset}"`]),
)

/** Returns the content type in lower case, or undefined if a parser could find another charset in it than UTF-8. */
function readContentType(contentType: string): string | undefined {
  if (!PRINTABLE.test(contentType)) return undefined
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const isPlain = parameters.every(
    (parameter) =>
      parameter === '' ||
      (TYPE_PARAMETER.test(parameter) && (!parameter.includes('charset') || CHARSETS.has(parameter))),
  )
  return isPlain && MEDIA_TYPE.test(type) ? contentType.toLowerCase() : undefined
}

/**
 * Reads the identity from a request target as it stands in the request line, or from an absolute URL. Returns a fault
 * unless each parameter is there once and without any encoding, and no other parameter could be read as one of them.
 */
export function readCallIdentity(target: string): CallIdentity | { readonly fault: string } {
  const [plainTarget = ''] = target.split('#', 1)
  const queryAt = plainTarget.indexOf('?')
  if (queryAt < 0) return { fault: 'has no query' }
  const found: Partial<Record<IdentityParameter, string>> = {}
  let others = plainTarget.slice(0, queryAt)
  for (const piece of plainTarget.slice(queryAt + 1).split('&')) {
    const name = readName(piece)
    if (!isIdentityParameter(name) || !piece.startsWith(`${name}=`)) {
      others += `&${piece}`
      continue
    }
    if (found[name] !== undefined) return { fault: `has ${name} more than once` }
    const value = decodeValue(piece.slice(name.length + 1))
    if (value === undefined) return { fault: `has a ${name} that cannot be decoded` }
    found[name] = value
  }
  const missing = IDENTITY_PARAMETERS.find((name) => !found[name])
  if (missing !== undefined) return { fault: `has no ${missing}` }
  const fault = findTextFault(others, 'url')
  return fault === undefined ? (found as CallIdentity) : { fault }
}

/** Looks at every name in the text, as it is written and as it reads after one, two and three decodings. */
function findTextFault(written: string, what: 'url' | 'form'): string | undefined {
  if (!HAS_NAMES.test(written)) return undefined
  let bytes = toBytes(written)
  // A parser that folds case or width, uses best-fit tables or reads UTF-8 leniently needs a character beyond ASCII
  // for it.
  if (!ASCII.test(toText(decodeBytes(readNames(bytes)))))
    return 'must not have a parameter whose name is not ASCII'
  if (BROKEN_ESCAPE.test(written)) return BROKEN_ESCAPE_FAULT
  for (let decodings = 0; decodings <= DECODINGS_MAX; decodings++) {
    const names = toText(readNames(bytes))
    if (UNICODE_ESCAPE.test(names)) return BROKEN_ESCAPE_FAULT
    const fault = findNameFault(names)
    if (fault !== undefined) return fault
    // A proxy that decodes a path would write a line break into the request that it makes. A form has lines of text.
    if (what === 'url' && ESCAPED_CONTROL.test(toText(bytes)))
      return 'must not have an encoded control character'
    const decoded = decodeBytes(bytes)
    if (decoded.length === bytes.length) return undefined
    bytes = decoded
  }
  return `must not be encoded more than ${DECODINGS_MAX} times`
}

/**
 * Returns the text before the first `=` that follows another sign. Some parsers drop a `=` at the front, so it is
 * dropped here.
 */
function readName(piece: string): string {
  const start = /^=*/.exec(piece)?.[0].length ?? 0
  const end = piece.indexOf('=', start)
  return piece.slice(start, end < 0 ? piece.length : end)
}

/**
 * Reads the names of all parameters as `readName` does, and puts `&` between them. They are one text, since a form
 * may have a hundred thousand. The text before the first separator is not a name.
 */
function readNames(bytes: Uint8Array): Uint8Array {
  const names = new Uint8Array(bytes.length)
  let length = 0
  let isName = false
  let isAtStart = false
  for (const byte of bytes) {
    if (byte === AMPERSAND || byte === SEMICOLON || byte === QUESTION_MARK || byte === NUMBER_SIGN) {
      isName = true
      isAtStart = true
      names[length++] = AMPERSAND
    } else if (byte !== EQUALS_SIGN) {
      isAtStart = false
      if (isName) names[length++] = byte
    } else if (!isAtStart) isName = false
  }
  return names.subarray(0, length)
}

/** Looks for a fault in names that have `&` between them. */
function findNameFault(names: string): string | undefined {
  if (CONTROL.test(names)) return 'must not have an encoded control character'
  const found = RESERVED.exec(names)
  if (found === null) return undefined
  const name = IDENTITY_PARAMETERS[found.findIndex((part, at) => at > 0 && part !== undefined) - 1]
  return `must not have a parameter that may be read as ${name}: each call adds its own`
}

function isIdentityParameter(name: string): name is IdentityParameter {
  return PARAMETERS.has(name)
}

/** Makes a byte of each character. All characters beyond ASCII become the same byte, because no rule tells them apart. */
function toBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = Math.min(text.charCodeAt(at), NOT_ASCII)
  return bytes
}

function toText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += ARGUMENTS_MAX)
    // Spreading the bytes as arguments would take eight times as long.
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + ARGUMENTS_MAX))
  return text
}

/** Makes a byte of each escape, even if the bytes are not UTF-8 together. A broken escape stays as it is. */
function decodeBytes(bytes: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const [high, low] = byte === PERCENT_SIGN ? [hexValue(bytes[at + 1]), hexValue(bytes[at + 2])] : NO_DIGITS
    const isEscape = high >= 0 && low >= 0
    decoded[length++] = isEscape ? 16 * high + low : byte
    if (isEscape) at += 2
  }
  return decoded.subarray(0, length)
}

/** Returns -1 for a byte that is not a hexadecimal digit. */
function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1
}

const NO_DIGITS = [-1, -1] as const

function decodeValue(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error: unknown) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
