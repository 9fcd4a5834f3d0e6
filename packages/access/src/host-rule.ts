import { isIP, isIPv4 } from 'node:net'

/**
 * A longer text is no Host and no origin: a name of DNS has 253 characters, and a port six more. To read a name of 1,700 letters
 * of other scripts takes 10 ms, and Host and Origin are read before any key.
 */
export const HOST_CHARACTERS_MAX = 300

/** This many spellings of an allowed Host are remembered, so that they are not parsed again. */
const REMEMBERED_MAX = 64

export interface HostRule {
  /** Tells whether a Host header is accepted. */
  allows(host: string): boolean
  /**
   * Tells whether the configuration names the host of an origin. The host has its port, unless that is the default of
   * the scheme.
   */
  names(originHost: string): boolean
}

/**
 * Makes the rule for a loopback address. It accepts loopback names and `named`, each as `host` or `host:port`. It
 * refuses every other name, which a page could have pointed here (DNS rebinding).
 */
export function buildLoopbackHostRule(named: readonly string[]): HostRule {
  return buildHostRule(named, isLoopbackName)
}

/**
 * Makes the rule for other addresses, once names are configured. It accepts IP addresses as well: an attacker can point
 * a name at this server but no address, and probes use addresses.
 */
export function buildNamedHostRule(named: readonly string[]): HostRule {
  return buildHostRule(named, (hostname) => isLoopbackName(hostname) || isIP(removeBrackets(hostname)) !== 0)
}

function buildHostRule(named: readonly string[], isOwn: (hostname: string) => boolean): HostRule {
  const names = new Set(named.map(readHostname))
  const originHosts = new Set(named.map((name) => URL.parse(`http://${name}`)?.host))
  const remembered = new Set<string>()
  return {
    names: (originHost) => originHosts.has(originHost),
    allows(host) {
      if (remembered.has(host)) return true
      const hostname = readHostname(host)
      if (hostname === undefined || !(names.has(hostname) || isOwn(hostname))) return false
      if (remembered.size < REMEMBERED_MAX) remembered.add(host)
      return true
    },
  }
}

/**
 * Returns the host name as a URL has it: in lower case, an address in its one form, without the port. Returns undefined
 * if the text is not a Host.
 */
export function readHostname(host: string): string | undefined {
  if (host === '' || host.length > HOST_CHARACTERS_MAX || /[/\\@?#\s]/.test(host)) return undefined
  const hostname = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  // A URL reads 127.1, 0x7f.0.0.1 and 2130706433 as 127.0.0.1. A browser always writes the address itself.
  if (hostname !== undefined && isIPv4(hostname) && !host.startsWith(hostname)) return undefined
  return hostname
}

function isLoopbackName(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true
  return isIPv4(hostname) && hostname.startsWith('127.')
}

function removeBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
