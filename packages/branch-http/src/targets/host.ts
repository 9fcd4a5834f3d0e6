import { isIP } from 'node:net'
import { type AddressClass, classifyAddress } from './address-class.ts'

/** These names of the metadata services are refused, whatever they resolve to. */
const METADATA_HOSTS = new Set(['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data'])

/** Returns the class that a host shows without a look-up. It is undefined for a name that shows none. */
export function classifyHost(
  hostname: string,
  classify: (address: string) => AddressClass = classifyAddress,
): AddressClass | undefined {
  const address = removeBrackets(hostname)
  if (isIP(address) !== 0) return classify(address)
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return 'loopback'
  return METADATA_HOSTS.has(hostname) ? 'never' : undefined
}

export function removeBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
