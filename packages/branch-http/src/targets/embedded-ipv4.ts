/**
 * Holds the IPv4 addresses that stand inside an IPv6 address. `mapped` is an IPv4 address that is written as IPv6; with
 * `tunnel` a gateway of the network forwards packets to the IPv4 addresses.
 */
export interface Embedded {
  readonly form: 'mapped' | 'tunnel'
  readonly addresses: readonly string[]
}

/** Returns eight numbers of 16 bits, or undefined for a text that is no IPv6 address. A zone (`%eth0`) is left out. */
export function parseIpv6Groups(text: string): readonly number[] | undefined {
  const canonical = URL.parse(`http://[${text.replace(/%.*$/, '')}]`)?.hostname.slice(1, -1)
  if (canonical === undefined) return undefined
  const [head = '', tail] = canonical.split('::')
  const first = parseGroups(head)
  const last = parseGroups(tail ?? '')
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

export function findEmbeddedIpv4(groups: readonly number[]): Embedded | undefined {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const last = toIpv4Text(g, h)
  const startsWithZeros = a === 0 && b === 0 && c === 0 && d === 0
  if (startsWithZeros && e === 0 && f === 0xffff) return { form: 'mapped', addresses: [last] }
  const isTunnel =
    (startsWithZeros && e === 0xffff && f === 0) || // IPv4-translated (RFC 2765).
    (startsWithZeros && e === 0 && f === 0 && (g !== 0 || h > 1)) || // IPv4-compatible (RFC 4291, 2.5.5.1), but not `::` and `::1`.
    (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) || // NAT64 (RFC 6052).
    ((e === 0 || e === 0x200) && f === 0x5efe) // ISATAP (RFC 5214), behind any prefix.
  if (isTunnel) return { form: 'tunnel', addresses: [last] }
  // 6to4 (RFC 3056) holds one address. Teredo (RFC 4380) holds two: the address of its server, and the address of its
  // client with every bit inverted.
  if (a === 0x2002) return { form: 'tunnel', addresses: [toIpv4Text(b, c)] }
  if (a === 0x2001 && b === 0)
    return { form: 'tunnel', addresses: [toIpv4Text(c, d), toIpv4Text(g ^ 0xffff, h ^ 0xffff)] }
  return undefined
}

function toIpv4Text(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}
