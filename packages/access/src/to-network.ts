/** The colon-separated groups of an IPv6 address. */
const GROUPS = 8

/** The network that counts as one caller: of IPv6 the first half, since who has one address there has all of them. */
export function toNetwork(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':')
  const gap = tail === undefined ? 0 : Math.max(0, GROUPS - groups.length - tail.split(':').length)
  return [...groups, ...Array<string>(gap).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, GROUPS / 2)
    .join(':')
}
