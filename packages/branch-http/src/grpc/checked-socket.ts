import { constants } from 'node:crypto'
import { connect as connectTcp, isIP, type LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { OriginTls } from '../caller-options.ts'
import { DeniedAddressError, type MayReach } from '../guarded-connector.ts'
import { type OriginHandshakes, RestingError } from '../handshake-rests.ts'
import { OUTGOING_CIPHERS } from '../outgoing-tls.ts'
import { HandshakingSocket, paceHttp2 } from '../paced-socket.ts'
import type { OriginReads } from '../reading-time.ts'
import { removeBrackets } from '../targets/host.ts'

export interface CheckedSocketOptions {
  readonly mayReach: MayReach
  /** Gives only addresses that may be reached, as `guardLookup` does. */
  readonly lookup: LookupFunction
  /** Bounds TCP and TLS together. */
  readonly connectTimeoutMs: number
  /** It is absent for plain text. */
  readonly tls?: OriginTls | undefined
  /** These read from the connection when there is time for it, TLS's own records included. */
  readonly reads: OriginReads
  readonly handshakes: OriginHandshakes
}

type Callback = (error: Error | undefined, socket?: Duplex) => void

/**
 * Connects to a service, and checks the address before anything is sent, even TLS's hello. A name is resolved once, so that
 * the checked address is the one that is used.
 */
export function connectChecked(
  hostname: string,
  port: number,
  { mayReach, lookup, connectTimeoutMs, tls, reads, handshakes }: CheckedSocketOptions,
  done: Callback,
): void {
  const host = removeBrackets(hostname)
  if (isIP(host) !== 0 && !mayReach(host, host)) {
    done(new DeniedAddressError())
    return
  }
  const socket = connectTcp({ host, port, lookup, noDelay: true })
  const callback = once(done)
  const timer = setTimeout(() => socket.destroy(toTimeoutError()), connectTimeoutMs)
  const fail = (error: Error) => {
    clearTimeout(timer)
    callback(error)
  }
  const succeed = (connected: Duplex) => {
    clearTimeout(timer)
    callback(undefined, connected)
  }
  socket.on('error', fail)
  socket.once('close', () => fail(toResetError()))
  socket.once('connect', () => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || !mayReach(host, remoteAddress)) {
      socket.destroy(new DeniedAddressError())
    } else if (tls === undefined) {
      succeed(paceHttp2(socket, reads))
    } else {
      const servername = isIP(host) === 0 ? { servername: host } : {}
      const handshake = handshakes.begin(remoteAddress)
      if (handshake === undefined) {
        socket.destroy(new RestingError())
        return
      }
      const paced = new HandshakingSocket(socket, reads, handshake)
      const secure = connectTls({
        ...{ ...tls, ...servername, host, socket: paced },
        ...{
          secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
          ciphers: OUTGOING_CIPHERS,
          ALPNProtocols: ['h2'],
        },
      })
      // It takes this from the socket below, which leaves the end to the library.
      secure.allowHalfOpen = false
      secure.on('error', fail)
      secure.once('secureConnect', () => {
        paced.succeed()
        if (secure.alpnProtocol === 'h2') succeed(secure)
        else secure.destroy(Object.assign(new Error('the service speaks no HTTP/2'), { code: 'EPROTO' }))
      })
    }
  })
}

function once(callback: Callback): Callback {
  let isCalled = false
  return (error, socket) => {
    if (isCalled) return
    isCalled = true
    callback(error, socket)
  }
}

function toTimeoutError(): Error {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })
}

function toResetError(): Error {
  return Object.assign(new Error('the connection has ended'), { code: 'ECONNRESET' })
}
