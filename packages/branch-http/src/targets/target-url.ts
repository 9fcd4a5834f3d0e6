import { isGrpcUrl, readGrpcTarget, withoutGrpcScheme } from '@counterstep/protocol'

/** Says why a URL must not be called. The message never repeats the URL, which may hold a secret. */
export interface Refusal {
  readonly code: 'SAGA_URL_INVALID' | 'SAGA_TARGET_NOT_ALLOWED'
  readonly message: string
}

export interface ServiceUrl {
  readonly service: string
  /** It is the path and the query, as they were written. */
  readonly rest: string
}

const SERVICE_URL = /^([a-z][a-z0-9-]*):(\/(?!\/).*)$/
/**
 * A parser would drop tabs and line breaks and turn backslashes, and so call another URL than the one that was
 * written.
 */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]*$/

/**
 * Refuses in new URLs every character that a parser may drop, turn or encode. The target of a call is checked without
 * this rule, too.
 */
export function refuseNotation(text: string): Refusal | undefined {
  if (!PLAIN.test(text))
    return refuseInvalid('must be plain ASCII, without spaces, line breaks and backslashes')
  return text.includes('#') ? refuseInvalid('must not have a fragment') : undefined
}

/** Reads a URL such as `bank:/debit`, which names a service. Returns undefined for any other. */
export function readServiceUrl(text: string): ServiceUrl | undefined {
  const [, service, rest] = SERVICE_URL.exec(text) ?? []
  return service === undefined || rest === undefined || /^https?$/.test(service)
    ? undefined
    : { service, rest }
}

/** Parses a URL once, and the result is what is called. */
export function readTargetUrl(text: string): URL | ServiceUrl | Refusal {
  const named = readServiceUrl(text)
  if (named !== undefined) return named
  if (isGrpcUrl(text)) return readGrpcUrl(text)
  return readHttpUrl(text)
}

/**
 * The usual notation of a host and a port is of these characters alone. A name of DNS has 253, and a port six more. A URL's parser
 * takes 14 ms to read a name of 2,000 letters of other scripts, and one request may bring 160 of them.
 */
const USUAL_CHARACTERS = /^[!-~]{1,300}$/
const NOT_USUAL = 'must have its host in the usual notation'

/** Reads an http or https URL whose host is in the one form that every parser reads in the same way. */
export function readHttpUrl(text: string): URL | Refusal {
  const authority = /^https?:\/\/([^/?]*)/i.exec(text)?.[1]
  if (authority === undefined) return refuseInvalid('must be an absolute http or https URL, or SERVICE:/PATH')
  if (!USUAL_CHARACTERS.test(authority)) return refuseInvalid(NOT_USUAL)
  const url = URL.parse(text)
  if (url === null) return refuseInvalid('is not a URL')
  if (authority.includes('@')) return refuseInvalid('must not carry a user name or password')
  // Parsers read 0x7f.1, 2130706433, 127.1 and %31 as another host than the one that is written.
  if (authority.replace(/:\d*$/, '').toLowerCase() !== url.hostname) return refuseInvalid(NOT_USUAL)
  if (url.hostname.endsWith('.')) return refuseInvalid('must not have a dot at the end of its host')
  return url
}

const PORT_MAX = 65_535

/** Reads a URL such as `grpc://bank:58080/bank.Bank/Debit`. With the scheme `grpcs` it is called by TLS. */
export function readGrpcUrl(text: string): URL | Refusal {
  const target = isGrpcUrl(text) ? readGrpcTarget(withoutGrpcScheme(text)) : undefined
  if (target === undefined) return refuseInvalid('must be HOST:PORT/PACKAGE.SERVICE/METHOD')
  const { host, port, path } = target
  if (Number(port) === 0 || Number(port) > PORT_MAX) return refuseInvalid('has a port that is none')
  // A URL of this scheme keeps its host as it is written, so the host is read as one of http.
  const read = readHttpUrl(`http://${host}/`)
  const scheme = text.slice(0, text.indexOf(':'))
  return read instanceof URL ? new URL(`${scheme}://${read.hostname}:${Number(port)}${path}`) : read
}

/** Returns scheme, host and port. For a scheme that it does not know, a URL says that its origin is `null`. */
export function toOrigin({ origin, protocol, host }: URL): string {
  return origin === 'null' ? `${protocol}//${host}` : origin
}

export function refuseInvalid(message: string): Refusal {
  return { code: 'SAGA_URL_INVALID', message }
}
