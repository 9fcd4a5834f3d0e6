import { constants } from 'node:crypto'
import { DEFAULT_CIPHERS } from 'node:tls'
import type { OriginTls } from './caller-options.ts'

/**
 * The ciphers of connections to services. With DHE the service chooses a modulus of up to 10,000 bits before its certificate is judged, and its two
 * powers take a second of the event loop.
 */
export const OUTGOING_CIPHERS = `${DEFAULT_CIPHERS}:!DHE`

/**
 * A service may ask for a new handshake on a connection that stands, by TLS 1.2, and would have another certificate checked each time. Only a service
 * that asks so for our own certificate needs it.
 */
export function secureOptionsFor(tls: OriginTls | undefined): number {
  return tls?.cert === undefined ? constants.SSL_OP_NO_RENEGOTIATION : 0
}

/**
 * So many bytes may come before a handshake is done. Chains of certificates have some 4 KiB. OpenSSL takes 100 KB, and checks all signatures of a chain
 * that nothing trusts: half a second.
 */
export const HANDSHAKE_BYTES_MAX = 32 * 1024
