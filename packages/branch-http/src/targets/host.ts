import { isIP } from 'node:net'
import { type AddressClass, classOfAddress } from './address-class.ts'

/** These names of the metadata services are refused, whatever they resolve to. */
const METADATA_HOSTS = new Set(['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data'])

/** Returns the class that a host shows without a look-up. It is undefined for a name that shows none. */
export function classOfHost(
  hostname: string,
  classOf: (address: string) => AddressClass = classOfAddress,
): AddressClass | undefined {
  const address = withoutBrackets(hostname)
  if (isIP(address) !== 0) return classOf(address)
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return 'loopback'
  return METADATA_HOSTS.has(hostname) ? 'never' : undefined
}

export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
