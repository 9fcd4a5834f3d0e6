import { BlockList, isIP } from 'node:net'
import { classifyAddress, PRIVATE } from './address-class.ts'
import { parseIpv6Groups } from './embedded-ipv4.ts'

/**
 * Stands for the private addresses of one network at one port or at every port, for example `http://10.0.0.0/8:*`. Only a
 * URL with an address can be in a range. A name is in no range, whatever it resolves to.
 */
export interface AddressRange {
  readonly type: 'range'
  readonly protocol: string
  /** An empty text is the port of the scheme, as in a URL, and `*` is every port. */
  readonly port: string
  readonly family: 'ipv4' | 'ipv6'
  readonly addresses: BlockList
}

const RANGE = /^(https?:|grpcs?:)\/\/(\[[0-9a-f:]+\]|[\d.]+)\/(\d{1,3})(?::(\*|\d{1,5}))?$/i
const DEFAULT_PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
])
export const EVERY_PORT = '*'
const PORT_MAX = 65_535
const GROUP_BITS = 16

/** Returns the range, or a message that says what is wrong with it. Returns undefined for what is not written as a range. */
export function parseAddressRange(text: string): AddressRange | string | undefined {
  const [, scheme, host, length, port = ''] = RANGE.exec(text) ?? []
  if (scheme === undefined || host === undefined) return undefined
  const protocol = scheme.toLowerCase()
  const network = host.replace(/^\[(.*)\]$/, '$1')
  const prefixLength = Number(length)
  if (!isNetwork(network, prefixLength))
    return 'must be a network: ADDRESS/LENGTH, where all bits of the address after that length are 0'
  if (classifyAddress(network) === 'never') return 'names an address that is never called'
  if (!isPrivate(network, prefixLength))
    return 'must be a range of private addresses, and no wider than theirs'
  if (port === '' && protocol.startsWith('grpc')) return 'must have a port, or * for every port'
  if (/\d/.test(port) && (Number(port) === 0 || Number(port) > PORT_MAX)) return 'has a port that is none'
  return {
    type: 'range',
    protocol,
    port: normalizePort(port, protocol),
    family: readFamily(network),
    addresses: buildSubnet(network, prefixLength),
  }
}

/** Takes an IPv6 address without its brackets. An IPv4 address that is mapped into IPv6 is in no range of IPv4. */
export function containsAddress({ family, addresses }: AddressRange, address: string): boolean {
  return isIP(address) === (family === 'ipv4' ? 4 : 6) && addresses.check(address, family)
}

/** Tells whether the whole range is in one of the private networks. */
function isPrivate(network: string, prefixLength: number): boolean {
  return PRIVATE.some((wider) => {
    const [address = '', length] = wider.split('/')
    const isSameFamily = readFamily(address) === readFamily(network)
    return (
      isSameFamily &&
      prefixLength >= Number(length) &&
      buildSubnet(address, Number(length)).check(network, readFamily(network))
    )
  })
}

function isNetwork(address: string, prefixLength: number): boolean {
  const version = isIP(address)
  const groups =
    version === 4 ? parseIpv4Halves(address) : version === 6 ? parseIpv6Groups(address) : undefined
  if (groups === undefined || prefixLength > groups.length * GROUP_BITS) return false
  return groups.every((group, index) => {
    const prefixBits = Math.min(Math.max(prefixLength - index * GROUP_BITS, 0), GROUP_BITS)
    return (group & (0xffff >> prefixBits)) === 0
  })
}

function parseIpv4Halves(address: string): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

function readFamily(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function normalizePort(port: string, protocol: string): string {
  if (port === EVERY_PORT || port === '') return port
  return Number(port) === DEFAULT_PORTS.get(protocol) ? '' : String(Number(port))
}

function buildSubnet(address: string, length: number): BlockList {
  const list = new BlockList()
  list.addSubnet(address, length, readFamily(address))
  return list
}
