import { BlockList, isIP } from 'node:net'
import { type Embedded, findEmbeddedIpv4, parseIpv6Groups } from './embedded-ipv4.ts'

/**
 * - `public`: The address is none of the others.
 * - `private`: Only the owner of the network routes it.
 * - `loopback`: It is this machine.
 * - `never`: It is link-local, multicast, reserved or a metadata service, and no configuration allows it.
 */
export type AddressClass = 'public' | 'private' | 'loopback' | 'never'

/** Each entry is an address and a prefix length, which `net.BlockList` takes. */
const NEVER = [
  '0.0.0.0/8',
  '169.254.0.0/16', // Link-local. AWS, Azure and Google have their metadata here, ECS (170.2) and EKS (170.23) credentials.
  '168.63.129.16/32', // Azure's platform.
  '100.100.100.200/32', // Alibaba's metadata.
  '192.0.0.0/24', // IETF protocols; Oracle's metadata is 192.0.0.192.
  '224.0.0.0/4',
  '240.0.0.0/4', // Reserved, with 255.255.255.255.
  '::/128',
  'fe80::/10',
  'fec0::/10', // The site-local of before fc00::/7.
  'ff00::/8',
  'fd00:ec2::/32', // AWS, within the private range.
  'fd20:ce::254/128', // Google, within the private range.
  'fd00:c1::a9fe:a9fe/128', // Oracle, likewise.
  'fd00:a9fe:a9fe::1/128', // Akamai (Linode).
  'fd00:42::42/128', // Scaleway.
  'fd00:100::100:200/128', // Alibaba.
  '100::/64', // Discarded by routers.
  '64:ff9b:1::/48', // NAT64 of a network's own: which address it becomes cannot be told.
]
const LOOPBACK = ['127.0.0.0/8', '::1/128']
export const PRIVATE: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10', // Carriers' NAT; clusters use it too.
  '198.18.0.0/15',
  'fc00::/7',
]

const LISTS: readonly (readonly [AddressClass, BlockList])[] = [
  ['never', buildBlockList(NEVER)],
  ['loopback', buildBlockList(LOOPBACK)],
  ['private', buildBlockList(PRIVATE)],
]

/**
 * Returns the class of an address, and `never` for a text that is not one. An IPv6 address that leads to an IPv4 one also
 * gets the class of that one.
 */
export function classifyAddress(text: string): AddressClass {
  const version = isIP(text)
  if (version === 4) return findListedClass(text, 'ipv4')
  if (version !== 6) return 'never'
  const groups = parseIpv6Groups(text)
  if (groups === undefined) return 'never'
  const embedded = findEmbeddedIpv4(groups)
  // A mapped address is the same address in another spelling.
  if (embedded?.form === 'mapped') return classifyAll(embedded.addresses)
  const own = findListedClass(groups.map((group) => group.toString(16)).join(':'), 'ipv6')
  if (embedded === undefined || (own !== 'public' && own !== 'private')) return own
  const leadsTo = classifyTunnel(embedded)
  // An address with a private prefix is private wherever its router sends it, unless the address that it leads to is
  // `never`.
  return own === 'private' && leadsTo !== 'never' ? own : leadsTo
}

/** Refuses this machine behind a translator as `never`, because no honest URL goes there that way. */
function classifyTunnel({ addresses }: Embedded): AddressClass {
  const leadsTo = classifyAll(addresses)
  return leadsTo === 'loopback' ? 'never' : leadsTo
}

function classifyAll(addresses: readonly string[]): AddressClass {
  const classes = addresses.map((address) => findListedClass(address, 'ipv4'))
  return LISTS.find(([name]) => classes.includes(name))?.[0] ?? 'public'
}

function findListedClass(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  return LISTS.find(([, list]) => list.check(address, family))?.[0] ?? 'public'
}

function buildBlockList(subnets: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = '', length] = subnet.split('/')
    list.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
