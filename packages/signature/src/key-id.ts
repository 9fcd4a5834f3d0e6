import { hash, type KeyObject } from 'node:crypto'

const KEY_ID_LENGTH = 16

/**
 * Returns the first 96 bits of the public key's thumbprint (RFC 7638). They are enough, since the owner of the keys
 * chooses them.
 */
export function computeKeyId(publicKey: KeyObject): string {
  const { crv, kty, x } = publicKey.export({ format: 'jwk' })
  // This order without white space is the RFC's canonical form.
  return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url').slice(0, KEY_ID_LENGTH)
}
