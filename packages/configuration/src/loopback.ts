import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { readHostname } from '@counterstep/access'

const LOOPBACK_IPV4 = new BlockList()
LOOPBACK_IPV4.addSubnet('127.0.0.0', 8)
const LOOPBACK_IPV6 = new BlockList()
LOOPBACK_IPV6.addAddress('::1', 'ipv6')

/**
 * Tells whether a host names this machine without a look-up: `localhost` or a loopback address. `127.0.0.999` and
 * `127.1` count as names, which the system's resolver may send anywhere.
 */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  if (isIPv4(host)) return LOOPBACK_IPV4.check(host)
  return isIPv6(host) && LOOPBACK_IPV6.check(host, 'ipv6')
}

/**
 * Tells whether others may reach the server: it listens beyond loopback, or it has a name that is none of this machine's, so
 * that a proxy in front passes the calls of others on.
 */
export function isForOthers({
  host,
  allowedHosts = [],
}: {
  readonly host: string
  readonly allowedHosts?: readonly string[] | undefined
}): boolean {
  return !isLoopback(host) || allowedHosts.some((name) => !isOwnName(toBareHost(name)))
}

/** Browsers resolve names under localhost to this machine themselves. */
function isOwnName(host: string): boolean {
  return isLoopback(host) || host.endsWith('.localhost')
}

/** An address of IPv6 stands in brackets in a URL. */
function toBareHost(name: string): string {
  return (readHostname(name) ?? name).replace(/^\[|\]$/g, '')
}
