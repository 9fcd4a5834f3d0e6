import { readOrigin } from './allowed-origin.ts'
import { removeBrackets } from './host.ts'
import { type Parsed, splitList } from './list.ts'
import { invalid, type Refusal, type ServiceUrl } from './target-url.ts'

/** `bank:/debit` is stored as written, and is `${origin}${base}/debit` when it is called. */
export interface NamedService {
  readonly name: string
  readonly origin: string
  /** An IPv6 address without its brackets. */
  readonly hostname: string
  /** "" or `/base`, without a slash at its end. */
  readonly base: string
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
/** Schemes of URLs, and of DTM's dialect: a service of that name would change what a URL means. */
const TAKEN = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file', 'grpc', 'topic', 'data', 'javascript'])

/** `bank=http://bank.internal:8080,ledger=https://ledger.example/api`. */
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

/** A text: what is wrong. */
function parseService(text: string): NamedService | string {
  const [, name = '', address = ''] = /^([^=]*)=(.*)$/.exec(text) ?? []
  if (!NAME.test(name)) return 'must be NAME=ORIGIN[/BASE], its name of a-z, 0-9 and -, a letter first'
  if (TAKEN.has(name)) return 'has a name that is a scheme of URLs'
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)(\/.*)?$/i.exec(address) ?? []
  const url = readOrigin(origin)
  if (typeof url === 'string') return url
  const base = path.replace(/\/$/, '')
  if (base !== '' && !/^(\/[\w.~!$&'()*+;=:@%-]+)+$/.test(base)) return 'has a base that is no plain path'
  if (new URL(`${url.origin}${base}/`).pathname !== `${base}/`) return 'has a base with dot segments'
  return { name, origin: url.origin, hostname: removeBrackets(url.hostname), base }
}

/** Its path stays below the service's base, however it is written. */
export function buildServiceUrl({ origin, base }: NamedService, { rest }: ServiceUrl): URL | Refusal {
  const url = URL.parse(`${origin}${base}${rest}`)
  if (url === null || url.origin !== origin) return invalid('is not a URL')
  if (base === '') return url
  const isBelow = url.pathname.startsWith(`${base}/`)
  // Both: what was written may hide what the parser turns, and the parser resolves what was written.
  const paths = [rest.replace(/[?#].*$/s, ''), url.pathname.slice(base.length)]
  return isBelow && !paths.some(mayClimb) ? url : invalid('must stay below the base of its service')
}

/**
 * Tells whether a path climbs for a service that decodes it before it splits it, once or more often, or drops the parameters of its
 * segments, or blanks. No UTF-8 has the bytes C0 and C1, nor so small a character in three or four: lenient readers take a dot or a
 * slash out of them.
 */
function mayClimb(path: string): boolean {
  if (/%(?:25)*(?:2f|5c|c0|c1|e0%(?:25)*[89]|f0%(?:25)*8)/i.test(path)) return true
  const decoded = path.replace(/%(?:25)*2e/gi, '.')
  return decoded.split('/').some((segment) => /^\.\.?(?:[;,]|%(?:25)*(?:3b|2c|3f|23|20)|$)/i.test(segment))
}
