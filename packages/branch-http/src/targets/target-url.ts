/** Why a URL may not be called. The message never repeats the URL, which may hold a secret. */
export interface Refusal {
  readonly code: 'SAGA_URL_INVALID' | 'SAGA_TARGET_NOT_ALLOWED'
  readonly message: string
}

export interface ServiceUrl {
  readonly service: string
  /** Path and query, as written. */
  readonly rest: string
}

const SERVICE_URL = /^([a-z][a-z0-9-]*):(\/(?!\/).*)$/
/** The parser drops tabs and line breaks and turns backslashes: what is called must be what was written. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]*$/

/** Refuses in new URLs every sign that a reader may drop, turn or encode. Where a call goes is safe without this rule. */
export function refuseNotation(text: string): Refusal | undefined {
  if (!PLAIN.test(text)) return invalid('must be plain ASCII, without spaces, line breaks and backslashes')
  return text.includes('#') ? invalid('must not have a fragment') : undefined
}

/** Parsed once; what is called is the parsed URL. `bank:/debit` names a service. */
export function readTargetUrl(text: string): URL | ServiceUrl | Refusal {
  const [, service, rest] = SERVICE_URL.exec(text) ?? []
  if (service !== undefined && rest !== undefined && !/^https?$/.test(service)) return { service, rest }
  return readHttpUrl(text)
}

/** An http or https URL with its host in the one form that every reader takes for the same. */
export function readHttpUrl(text: string): URL | Refusal {
  const authority = /^https?:\/\/([^/?]*)/i.exec(text)?.[1]
  if (authority === undefined) return invalid('must be an absolute http or https URL, or SERVICE:/PATH')
  const url = URL.parse(text)
  if (url === null) return invalid('is not a URL')
  if (authority.includes('@')) return invalid('must not carry a user name or password')
  // 0x7f.1, 2130706433, 127.1 and %31 are read as another host than they show.
  if (authority.replace(/:\d*$/, '').toLowerCase() !== url.hostname)
    return invalid('must have its host in the usual notation')
  if (url.hostname.endsWith('.')) return invalid('must not have a dot at the end of its host')
  return url
}

export function invalid(message: string): Refusal {
  return { code: 'SAGA_URL_INVALID', message }
}
