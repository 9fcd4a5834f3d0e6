import { findUrlFault } from '@counterstep/protocol'
import { readOrigin } from './allowed-origin.ts'
import { classifyHost, removeBrackets } from './host.ts'
import { type Parsed, splitList } from './list.ts'
import { type Refusal, readHttpUrl, refuseInvalid, refuseNotation, type ServiceUrl } from './target-url.ts'

/** A URL such as `bank:/debit` is stored as it is, and called as `${origin}${base}/debit`. */
export interface NamedService {
  readonly name: string
  readonly origin: string
  /** An IPv6 address has no brackets here. */
  readonly hostname: string
  /** It is empty, or a path such as `/base` without a slash at its end. */
  readonly base: string
  /**
   * This whole URL is called, with nothing added to it, and it may be a secret. No request may name such a service: only
   * this server itself calls it, as `NAME:/`.
   */
  readonly endpoint?: string
}

/** Makes a service of one whole URL. Returns a text, which says what is wrong, if the URL cannot be read. */
export function parseEndpoint(name: string, text: string): NamedService | string {
  const refused = refuseNotation(text)
  if (refused !== undefined) return refused.message
  const url = readHttpUrl(text)
  if (!(url instanceof URL)) return url.message.replace(', or SERVICE:/PATH', '')
  if (classifyHost(url.hostname) === 'never') return 'names an address that is never called'
  const fault = findUrlFault(url.pathname + url.search)
  if (fault !== undefined) return fault
  return { name, origin: url.origin, hostname: removeBrackets(url.hostname), base: '', endpoint: url.href }
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
/** These are schemes of URLs or words of DTM's dialect. A service with such a name would change the meaning of a URL. */
const TAKEN = new Set([
  'http',
  'https',
  'ws',
  'wss',
  'ftp',
  'file',
  'grpc',
  'grpcs',
  'topic',
  'data',
  'javascript',
])

const NAME_RULE = 'of a-z, 0-9 and -, a letter first'

/** Says what is wrong with the name of a service. */
export function findNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return `must have a name ${NAME_RULE}`
  return TAKEN.has(name) ? 'has a name that is a scheme of URLs' : undefined
}

/** Reads a list such as `bank=http://bank.internal:8080,ledger=https://ledger.example/api`. */
export function parseServices(text: string): Parsed<readonly NamedService[]> {
  const services = new Map<string, NamedService>()
  for (const [at, item] of splitList(text).entries()) {
    const service = parseService(item)
    if (typeof service === 'string') return { problem: `has an item ${at + 1} that ${service}` }
    if (services.has(service.name)) return { problem: `names ${service.name} twice` }
    services.set(service.name, service)
  }
  return { value: [...services.values()] }
}

/** Lists the names of the services that the rules have. */
export function listServiceNames({ services }: { readonly services: readonly NamedService[] }): string[] {
  return services.map(({ name }) => name)
}

/** Returns a text, which says what is wrong, if the item cannot be read. */
function parseService(text: string): NamedService | string {
  const [, name = '', address = ''] = /^([^=]*)=(.*)$/.exec(text) ?? []
  if (!NAME.test(name)) return `must be NAME=ORIGIN[/BASE], its name ${NAME_RULE}`
  const fault = findNameFault(name)
  if (fault !== undefined) return fault
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)(\/.*)?$/i.exec(address) ?? []
  const url = readOrigin(origin)
  if (typeof url === 'string') return url
  const base = path.replace(/\/$/, '')
  if (base !== '' && !/^(\/[\w.~!$&'()*+;=:@%-]+)+$/.test(base)) return 'has a base that is no plain path'
  if (new URL(`${url.origin}${base}/`).pathname !== `${base}/`) return 'has a base with dot segments'
  return { name, origin: url.origin, hostname: removeBrackets(url.hostname), base }
}

/** Builds the URL that is called. Its path stays below the base of the service, however it is written. */
export function buildServiceUrl(
  { origin, base, endpoint }: NamedService,
  { rest }: ServiceUrl,
): URL | Refusal {
  if (endpoint !== undefined)
    return rest === '/' ? new URL(endpoint) : refuseInvalid('must end with its slash')
  const url = URL.parse(`${origin}${base}${rest}`)
  if (url === null || url.origin !== origin) return refuseInvalid('is not a URL')
  if (base === '') return url
  const isBelow = url.pathname.startsWith(`${base}/`)
  // Both spellings are checked. The written path may climb in a way that only a parser sees, and the parser has already
  // resolved some ways that the written path shows.
  const paths = [rest.replace(/[?#].*$/s, ''), url.pathname.slice(base.length)]
  return isBelow && !paths.some(mayClimb) ? url : refuseInvalid('must stay below the base of its service')
}

/**
 * Tells whether a path may climb at a service that decodes it, once or more often, before it splits it, or that drops
 * blanks or the parameters of segments. Valid UTF-8 has no bytes C0 and C1, and no ASCII character in three or four
 * bytes, but lenient readers decode a dot or a slash from them.
 */
function mayClimb(path: string): boolean {
  if (/%(?:25)*(?:2f|5c|c0|c1|e0%(?:25)*[89]|f0%(?:25)*8)/i.test(path)) return true
  const decoded = path.replace(/%(?:25)*2e/gi, '.')
  return decoded.split('/').some((segment) => /^\.\.?(?:[;,]|%(?:25)*(?:3b|2c|3f|23|20)|$)/i.test(segment))
}
