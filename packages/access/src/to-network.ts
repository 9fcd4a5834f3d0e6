/** An IPv6 address has this many groups between its colons. */
const GROUPS = 8

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
