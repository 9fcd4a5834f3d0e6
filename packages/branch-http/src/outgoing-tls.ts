import { DEFAULT_CIPHERS } from 'node:tls'

/**
 * The ciphers of connections to services. With DHE the service chooses a modulus of up to 10,000 bits before its certificate is judged, and its two
 * powers take a second of the event loop.
 */
export const OUTGOING_CIPHERS = `${DEFAULT_CIPHERS}:!DHE`

/**
 * So many bytes may come before a handshake is done. Chains of certificates have some 4 KiB. OpenSSL takes 100 KB, and checks all signatures of a chain
 * that nothing trusts: half a second.
 */
export const HANDSHAKE_BYTES_MAX = 32 * 1024
