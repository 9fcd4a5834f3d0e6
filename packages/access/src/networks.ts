import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Holds the addresses that a list of CIDRs names. */
export interface Networks {
  has(address: string): boolean
}

/** Reads a list of CIDRs. A single address is a network of one. Returns undefined if one of them is not a CIDR. */
export function readNetworks(cidrs: readonly string[]): Networks | undefined {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [, address = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(cidr) ?? []
    const family = findFamily(address)
    if (family === undefined) return undefined
    const bitsMax = family === 'ipv4' ? 32 : 128
    const prefix = bits === undefined ? bitsMax : Number(bits)
    if (prefix > bitsMax) return undefined
    list.addSubnet(address, prefix, family)
  }
  return { has: (address) => isListed(list, address) }
}

function isListed(list: BlockList, address: string): boolean {
  // An IPv6 socket shows the address of an IPv4 caller in this form.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const plain = mapped ?? address.replace(/%.*$/, '')
  const family = findFamily(plain)
  return family !== undefined && list.check(plain, family)
}

function findFamily(address: string): 'ipv4' | 'ipv6' | undefined {
  if (isIPv4(address)) return 'ipv4'
  return isIPv6(address) ? 'ipv6' : undefined
}
