import { isIP, isIPv4 } from 'node:net'

/** How many spellings of an allowed Host are remembered, so that they are not parsed again. */
const REMEMBERED_MAX = 64

export interface HostRule {
  /** Of a Host header. */
  allows(host: string): boolean
  /** Of the host of an origin, with its port unless that is its scheme's: whether the configuration names it. */
  names(originHost: string): boolean
}

/** `named`: as `host` or `host:port`. On a loopback address: what a page could have pointed there is refused (DNS rebinding). */
export function loopbackHosts(named: readonly string[]): HostRule {
  return hostRule(named, isLoopbackName)
}

/** Elsewhere, once names are configured. An address is no name that anybody could point at us; probes use it. */
export function namedHosts(named: readonly string[]): HostRule {
  return hostRule(named, (hostname) => isLoopbackName(hostname) || isIP(bare(hostname)) !== 0)
}

function hostRule(named: readonly string[], isOwn: (hostname: string) => boolean): HostRule {
  const names = new Set(named.map(hostnameOf))
  const originHosts = new Set(named.map((name) => URL.parse(`http://${name}`)?.host))
  const remembered = new Set<string>()
  return {
    names: (originHost) => originHosts.has(originHost),
    allows(host) {
      if (remembered.has(host)) return true
      const hostname = hostnameOf(host)
      if (hostname === undefined || !(names.has(hostname) || isOwn(hostname))) return false
      if (remembered.size < REMEMBERED_MAX) remembered.add(host)
      return true
    },
  }
}

/** As a URL has it: lower case, addresses in their one form, without the port. */
export function hostnameOf(host: string): string | undefined {
  if (host === '' || /[/\\@?#\s]/.test(host)) return undefined
  const hostname = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  // 127.1, 0x7f.0.0.1 and 2130706433 are read as an address that they do not show. A browser writes that address.
  if (hostname !== undefined && isIPv4(hostname) && !host.startsWith(hostname)) return undefined
  return hostname
}

function isLoopbackName(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true
  return isIPv4(hostname) && hostname.startsWith('127.')
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
