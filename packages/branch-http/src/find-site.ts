import { parseIpv6Groups } from './targets/embedded-ipv4.ts'

/** A site mostly has so many of the eight groups of an IPv6 address, which are 65,536 networks. */
const SITE_GROUPS = 3

/** Returns what counts as the site of an address: a /48 of IPv6, or an address of IPv4, also one that is reached by IPv6. */
export function findSite(address: string): string {
  const groups = parseIpv6Groups(address)
  if (groups === undefined) return address
  const [first, second] = groups
  // Here the owner of the IPv4 address has the whole address (RFC 4291, 2.5.5.2, and NAT64, RFC 6052).
  const isIpv4 = first === 0 || (first === 0x64 && second === 0xff9b)
  return groups.slice(0, isIpv4 ? groups.length : SITE_GROUPS).join(':')
}
