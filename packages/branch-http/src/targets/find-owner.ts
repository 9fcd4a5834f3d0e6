import { findEmbeddedIpv4, parseIpv6Groups } from './embedded-ipv4.ts'

/** An owner mostly has so many of the eight groups of an IPv6 address: a network, or a site of 65,536 networks. */
const NETWORK_GROUPS = 4
const SITE_GROUPS = 3

export interface Owner {
  readonly network: string
  readonly site: string
}

/** Finds who may own an address. An IPv4 address, also one that stands inside of an IPv6 address, counts for itself. */
export function findOwner(address: string): Owner {
  const groups = parseIpv6Groups(address)
  if (groups === undefined) return { network: address, site: address }
  const embedded = findEmbeddedIpv4(groups)?.addresses.join()
  if (embedded !== undefined) return { network: embedded, site: embedded }
  return { network: join(groups, NETWORK_GROUPS), site: join(groups, SITE_GROUPS) }
}

function join(groups: readonly number[], count: number): string {
  return groups.slice(0, count).join(':')
}
