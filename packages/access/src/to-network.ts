/** An IPv6 address has this many groups between its colons. */
const GROUPS = 8

/** An owner of one IPv6 network mostly has all that begin with these groups, a /48. */
const GROUPS_OF_SITE = 3

/**
 * Returns the network that counts as one caller. For IPv6 the network is the first half of the address, since the owner
 * of one IPv6 address mostly has the whole network.
 */
export function toNetwork(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':')
  const gap = tail === undefined ? 0 : Math.max(0, GROUPS - groups.length - tail.split(':').length)
  return [...groups, ...Array<string>(gap).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, GROUPS / 2)
    .join(':')
}

/** Returns the site of a network. For IPv4 that is the address, also of one that reaches a listener of IPv6, as `::ffff:192.0.2.1`. */
export function toSite(network: string): string {
  if (!network.includes(':') || network.includes('.')) return network
  return network.split(':').slice(0, GROUPS_OF_SITE).join(':')
}
