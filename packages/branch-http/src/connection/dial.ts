import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Whom to connect to. */
export interface Peer {
  readonly isTls: boolean
  /** A name, or an address without brackets. */
  readonly hostname: string
  readonly port: number
}

export interface DialOptions extends Peer {
  readonly lookup: LookupFunction
  /** Where what comes is put, and who is told: no stream is between. */
  readonly onread: OnReadOpts
  /** Of an earlier connection to the same peer. */
  readonly session: Buffer | undefined
}

/** A connection on its way: it emits `connect`, then for TLS `secureConnect`, or `error`; at last `close`. */
export type Dial = (options: DialOptions) => Socket

// What stands idle is probed by the system now and then, so that a peer that is gone is found.
const PROBE_AFTER_MS = 60_000

export function dial({ isTls, hostname, port, lookup, onread, session }: DialOptions): Socket {
  const options = {
    host: hostname,
    port,
    lookup,
    onread,
  }
  // RFC 6066, 3: an address is no name to ask for.
  const servername = isIP(hostname) === 0 ? hostname : ''
  const socket = isTls
    ? connectTls({ ...options, servername, ALPNProtocols: ['http/1.1'], session })
    : connectTcp(options)
  // Not as options: over TLS some versions of Node drop these.
  return socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS)
}

/** Of a URL's origin. */
export function peerOf({ protocol, hostname, port }: URL): Peer {
  const isTls = protocol === 'https:'
  return {
    isTls,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
  }
}
