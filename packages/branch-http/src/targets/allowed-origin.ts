import { isGrpcUrl } from '@counterstep/protocol'
import { type AddressRange, containsAddress, EVERY_PORT, parseAddressRange } from './address-range.ts'
import { classifyHost, removeBrackets } from './host.ts'
import { type Parsed, splitList } from './list.ts'
import { isPublicSuffix } from './public-suffix.ts'
import { readGrpcUrl, readHttpUrl, toOrigin } from './target-url.ts'

/**
 * Name servers of these suffixes answer `10-0-0-1.SUFFIX`, and most of them `10-0-0-1.anything.SUFFIX` too, with the
 * address in the name. A caller can so write a name that leads into the network of this server without registering it. All
 * are public but the last: a cluster's CoreDNS mostly answers so for its pods, whether there is one at that address or not.
 */
const ANY_ADDRESS_SUFFIXES: readonly string[] = [
  'nip.io',
  'sslip.io',
  'xip.io',
  'traefik.me',
  'backname.io',
  'plex.direct',
  'local-ip.co',
  'local-ip.sh',
  '1u.ms',
  'rbndr.us',
  'pod.cluster.local',
]

/**
 * Stands for one listed origin, for all origins whose host has exactly one label before `suffix`, or for addresses of a
 * private network.
 */
export type AllowedOrigin =
  | AddressRange
  | {
      readonly type: 'exact'
      readonly origin: string
      /** An IPv6 address stands here without its brackets. */
      readonly hostname: string
    }
  | {
      readonly type: 'wildcard'
      readonly protocol: string
      readonly port: string
      /** It keeps its leading dot. */
      readonly suffix: string
    }

/** Reads a list such as `https://bank.example,http://10.0.0.5:8080,https://*.example.internal,http://10.0.0.0/8:*`. */
export function parseAllowedOrigins(text: string): Parsed<readonly AllowedOrigin[]> {
  const value: AllowedOrigin[] = []
  for (const [at, item] of splitList(text).entries()) {
    const rule = parseAllowedOrigin(item)
    // The problem names the item by its place, because the item may hold a misplaced password.
    if (typeof rule === 'string') return { problem: `has an item ${at + 1} that ${rule}` }
    value.push(rule)
  }
  return { value }
}

/** Returns a text, which says what is wrong, if the item cannot be read. */
export function parseAllowedOrigin(text: string): AllowedOrigin | string {
  return parseAddressRange(text) ?? parseOrigin(text)
}

function parseOrigin(text: string): AllowedOrigin | string {
  if (text.endsWith(':*'))
    return 'may have every port only for a range of private addresses, as in http://10.0.0.0/8:*'
  const isWildcard = /^(?:https?|grpcs?):\/\/\*\./i.test(text)
  const url = readOrigin(isWildcard ? text.replace('*.', 'any.') : text)
  if (typeof url === 'string') return url
  if (!isWildcard) return { type: 'exact', origin: toOrigin(url), hostname: removeBrackets(url.hostname) }
  const suffix = url.hostname.slice('any'.length)
  // `*.com` and `*.co.uk` would list half the world.
  if (suffix.split('.').length < 3) return 'must have at least two labels after its *'
  if (isPublicSuffix(suffix.slice(1)))
    return 'has its * below a public suffix, where anybody may register a name'
  if (resolvesToAnyAddress(suffix.slice(1)))
    return 'has its * below a name whose server answers with any address that is written in it'
  return { type: 'wildcard', protocol: url.protocol, port: url.port, suffix }
}

export function readOrigin(text: string): URL | string {
  if (text.includes('*')) return 'may have one * only, as the first label of its host'
  if (text.includes('#') || text.includes('\\')) return 'must be an origin: http(s)://HOST[:PORT]'
  if (isGrpcUrl(text)) return readGrpcOrigin(text)
  const url = readHttpUrl(text)
  if (!(url instanceof URL)) return url.message.replace(', or SERVICE:/PATH', '')
  if (url.pathname !== '/' || url.search !== '' || text.endsWith('?'))
    return 'must be an origin: http(s)://HOST[:PORT], with no path and no query'
  return classifyHost(url.hostname) === 'never' ? 'names an address that is never called' : url
}

/** A service over gRPC has no usual port, so its origin always names one. */
function readGrpcOrigin(text: string): URL | string {
  const url = readGrpcUrl(`${text.replace(/\/$/, '')}/any.Service/Method`)
  if (!(url instanceof URL)) return 'must be an origin: grpc://HOST:PORT or grpcs://HOST:PORT'
  return classifyHost(url.hostname) === 'never' ? 'names an address that is never called' : url
}

export function matchesOrigin(rule: AllowedOrigin, url: URL): boolean {
  if (rule.type === 'exact') return rule.origin === toOrigin(url)
  const isItsPort = rule.port === url.port || rule.port === EVERY_PORT
  return rule.protocol === url.protocol && isItsPort && matchesHost(rule, removeBrackets(url.hostname))
}

/** Tells whether a list has a range with every port. An operator should know that. */
export function hasEveryPort(rules: readonly AllowedOrigin[]): boolean {
  return rules.some((rule) => rule.type === 'range' && rule.port === EVERY_PORT)
}

/** Takes an IPv6 address without its brackets. */
export function matchesHost(rule: AllowedOrigin, hostname: string): boolean {
  if (rule.type === 'exact') return rule.hostname === hostname
  if (rule.type === 'range') return containsAddress(rule, hostname)
  const label = hostname.slice(0, -rule.suffix.length)
  return hostname.endsWith(rule.suffix) && label !== '' && !label.includes('.')
}

function resolvesToAnyAddress(hostname: string): boolean {
  return ANY_ADDRESS_SUFFIXES.some((suffix) => hostname === suffix || hostname.endsWith(`.${suffix}`))
}
