import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector, errors } from 'undici'
import { boundAnswers } from './bounded-answers.ts'
import type { OriginTls } from './caller-options.ts'
import { connectSocket } from './connector-socket.ts'
import { type OriginHandshakes, RestingError } from './handshake-rests.ts'
import { OUTGOING_CIPHERS, secureOptionsFor } from './outgoing-tls.ts'
import { HandshakingSocket } from './paced-socket.ts'
import type { OriginReads } from './reading-time.ts'
import type { TargetPolicy } from './targets/target-policy.ts'

/**
 * No connection was made, or it was destroyed before a byte was sent. The error may be shown, because it names no
 * address.
 */
export class DeniedAddressError extends Error {
  readonly code = 'COUNTERSTEP_DENIED_ADDRESS'

  constructor() {
    super('an address that may not be called')
    this.name = 'DeniedAddressError'
  }
}

/**
 * At most this many addresses of each family of a name are tried. Node compares each of them with those before it, for each connection,
 * and a name server may answer with 4,000. In a connect timeout of 2 s it tries eight that do not answer.
 */
export const ADDRESSES_TRIED_MAX = 16

export type MayReach = TargetPolicy['mayReach']

export interface ConnectorOptions {
  readonly mayReach: MayReach
  /** Gives only addresses that may be reached, as `guardLookup` does. */
  readonly lookup: LookupFunction
  /** Bounds TCP and TLS together. */
  readonly connectTimeoutMs: number
  readonly tls?: OriginTls | undefined
  readonly reads: OriginReads
  readonly handshakes: OriginHandshakes
}

/**
 * Makes a connector that checks the address that it connects to. A name is resolved once, so that the checked address
 * is the one that is used. A host that is itself an address has no look-up and is checked first. Before anything is
 * sent, even TLS's hello, the address of the connected socket is checked once more.
 */
export function createGuardedConnector(
  { mayReach, lookup, connectTimeoutMs, tls, reads, handshakes }: ConnectorOptions,
  build = buildConnector,
): buildConnector.connector {
  const connectAny = build({
    ...tls,
    ciphers: OUTGOING_CIPHERS,
    secureOptions: secureOptionsFor(tls),
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup,
  })
  const connect = boundAnswers(connectAny, reads)
  function connectTls(options: buildConnector.Options, callback: buildConnector.Callback): Socket {
    const startedAt = performance.now()
    const { servername: _, ...place } = options
    const plain = { ...place, protocol: 'http:', port: options.port || '443' }
    return connectSocket(connectAny, plain, (error, socket) => {
      if (error !== null) {
        callback(error, null)
        return
      }
      const { remoteAddress } = socket
      if (socket.destroyed || remoteAddress === undefined) {
        callback(socket.errored ?? new DeniedAddressError(), null)
        return
      }
      const handshake = handshakes.begin(remoteAddress)
      if (handshake === undefined) {
        socket.destroy()
        callback(new RestingError(), null)
        return
      }
      // TLS's own records take time as well: a service could send them without end, and no byte of an answer.
      const paced = new HandshakingSocket(socket, reads, handshake)
      const leftMs = Math.max(1, connectTimeoutMs - (performance.now() - startedAt))
      const timer = setTimeout(() => paced.destroy(new errors.ConnectTimeoutError()), leftMs)
      const secure = connectSocket(
        connect,
        { ...options, httpSocket: paced as unknown as Socket },
        (...connected) => {
          clearTimeout(timer)
          if (connected[0] === null) paced.succeed()
          callback(...connected)
        },
      )
      // It takes this from the socket below, which leaves the end to the library.
      secure.allowHalfOpen = false
    })
  }
  return function connectGuarded(options, callback) {
    const { hostname, protocol } = options
    if (isIP(hostname) !== 0 && !mayReach(hostname, hostname)) {
      callback(new DeniedAddressError(), null)
      return
    }
    const socket =
      protocol === 'https:' ? connectTls(options, callback) : connectSocket(connect, options, callback)
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket
      if (remoteAddress === undefined || !mayReach(hostname, remoteAddress))
        socket.destroy(new DeniedAddressError())
    })
  }
}

/**
 * Passes on the first addresses of a name, and refuses it if any of these is denied, because Node chooses which of them
 * it tries. The others are dropped unchecked, since none of them can be tried.
 */
export function guardLookup(
  mayReach: MayReach,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  return function lookUpGuarded(hostname, options, callback) {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, [])
        return
      }
      const addresses = typeof found === 'string' ? [] : takeFirst(found)
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

/** A host without IPv6 reaches a name by its IPv4 addresses, wherever they stand among the others. */
function takeFirst(found: readonly LookupAddress[]): LookupAddress[] {
  let ofIpv4 = 0
  let ofIpv6 = 0
  return found.filter(({ family }) => (family === 6 ? ++ofIpv6 : ++ofIpv4) <= ADDRESSES_TRIED_MAX)
}
