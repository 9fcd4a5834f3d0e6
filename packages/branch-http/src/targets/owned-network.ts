import { findEmbeddedIpv4, parseIpv6Groups } from './embedded-ipv4.ts'

/** The network of one owner has so many of the eight groups of an IPv6 address. */
const OWNED_GROUPS = 4

/**
 * Returns the network that mostly has one owner: an IPv4 address, also one that stands inside of an IPv6 address, and the first half
 * of another IPv6 address.
 */
export function toOwnedNetwork(address: string): string {
  const groups = parseIpv6Groups(address)
  if (groups === undefined) return address
  const embedded = findEmbeddedIpv4(groups)?.addresses ?? []
  return embedded.length > 0 ? embedded.join() : groups.slice(0, OWNED_GROUPS).join(':')
}
