/** An IPv6 address has this many groups between its colons. */
const GROUPS = 8

/** An owner of one IPv6 network mostly has all that begin with these groups, a /48. */
const GROUPS_OF_SITE = 3

/**
 * Returns the network that counts as one caller. For IPv6 the network is the first half of the address, since the owner
 * of one IPv6 address mostly has the whole network.
 */
export function toNetwork(address: string): string {
  if (!isIpv6(address)) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':')
  const gap = tail === undefined ? 0 : Math.max(0, GROUPS - groups.length - tail.split(':').length)
  return [...groups, ...Array<string>(gap).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, GROUPS / 2)
    .join(':')
}

/** Returns the site of a network. For IPv4 that is the address, also of one that reaches a listener of IPv6, as `::ffff:192.0.2.1`. */
export function toSite(network: string): string {
  return isIpv6(network) ? network.split(':').slice(0, GROUPS_OF_SITE).join(':') : network
}

/** Tells whether an address is one of IPv6, and none of IPv4 that is written as one. */
function isIpv6(address: string): boolean {
  return address.includes(':') && !address.includes('.')
}
