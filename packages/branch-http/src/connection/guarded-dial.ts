import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { TargetPolicy } from '@counterstep/targets'
import { type Dial, type DialOptions, dial as dialSocket } from './dial.ts'
import { sharedLookup } from './shared-lookup.ts'

/** No connection was made, or it was destroyed before a byte went out. It names no address: it may be shown. */
export class DeniedAddressError extends Error {
  readonly code = 'COUNTERSTEP_DENIED_ADDRESS'

  constructor() {
    super('an address that may not be called')
    this.name = 'DeniedAddressError'
  }
}

export type MayReach = TargetPolicy['mayReach']

/** Throws DeniedAddressError where an address stands in place of a name and is denied. */
export type GuardedDial = (options: Omit<DialOptions, 'lookup'>) => Socket

/**
 * Connects, checked where it counts: a name is resolved once, and what is connected to is what was checked. For an
 * address in place of a name no look-up runs, so that is checked by itself; and whatever happened on the way, the
 * address on the other side is checked before anything is sent, TLS's hello included.
 */
export function guardedDial(
  { mayReach, lookup }: { readonly mayReach: MayReach; readonly lookup: LookupFunction },
  dial: Dial = dialSocket,
): GuardedDial {
  const guarded = guardedLookup(mayReach, sharedLookup(lookup))
  return function dialGuarded(options) {
    const { hostname } = options
    if (isIP(hostname) !== 0 && !mayReach(hostname, hostname)) throw new DeniedAddressError()
    const socket = dial({ ...options, lookup: guarded })
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket
      if (remoteAddress === undefined || !mayReach(hostname, remoteAddress))
        socket.destroy(new DeniedAddressError())
    })
    return socket
  }
}

/** Refuses a name if any of its addresses is denied: which of them is tried is not ours to say. */
export function guardedLookup(
  mayReach: MayReach,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  return function lookUpGuarded(hostname, options, callback) {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, [])
        return
      }
      const addresses = typeof found === 'string' ? [] : found
      const [first] = addresses
      if (first === undefined || !addresses.every(({ address }) => mayReach(hostname, address))) {
        callback(new DeniedAddressError(), [])
      } else if (options.all === true) {
        callback(null, addresses)
      } else {
        callback(null, first.address, first.family)
      }
    })
  }
}
