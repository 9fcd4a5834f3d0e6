import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { TargetPolicy } from '@counterstep/targets'
import { buildConnector } from 'undici'
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

/** What dials; in place of it a test may look on. */
export type Dial = typeof buildConnector

export interface ConnectorParts {
  readonly mayReach: MayReach
  readonly connectTimeoutMs: number
  readonly lookup: LookupFunction
}

/**
 * undici's connector, checked where it counts: a name is resolved once, and what is connected to is what was checked.
 * For an address in place of a name no look-up runs, so that is checked by itself; and whatever happened on the way,
 * the address on the other side is checked before anything is sent, TLS's hello included.
 */
export function guardedConnector(
  { mayReach, connectTimeoutMs, lookup }: ConnectorParts,
  dial: Dial = buildConnector,
): buildConnector.connector {
  const connect = dial({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: guardedLookup(mayReach, sharedLookup(lookup)),
  }) as DialledConnector
  return function connectGuarded(options, callback): void {
    const { hostname } = options
    if (isIP(hostname) !== 0 && !mayReach(hostname, hostname)) {
      // Not at once: undici does not expect its answer before it has finished asking.
      queueMicrotask(() => callback(new DeniedAddressError(), null))
      return
    }
    let denied: DeniedAddressError | undefined
    const socket = connect(options, (...[error, connected]) => {
      if (denied !== undefined) callback(denied, null)
      else if (error !== null) callback(error, null)
      else callback(null, connected)
    })
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket
      if (remoteAddress !== undefined && mayReach(hostname, remoteAddress)) return
      denied = new DeniedAddressError()
      socket.destroy(denied)
    })
  }
}

/** As it is: the types leave out that the socket is returned. */
type DialledConnector = (...args: Parameters<buildConnector.connector>) => Socket

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
