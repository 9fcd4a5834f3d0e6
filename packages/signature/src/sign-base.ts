import { createHmac, sign, timingSafeEqual, verify } from 'node:crypto'
import type { SigningKey } from './signing-key.ts'
import type { VerificationKey } from './verification-key.ts'

/** Signs a base and returns the signature in base64. */
export function signBase({ algorithm, key }: SigningKey, base: string): string {
  return algorithm === 'ed25519'
    ? sign(null, toBytes(base), key).toString('base64')
    : createHmac('sha256', key).update(base, 'latin1').digest('base64')
}

/** Tells whether `signature` is the signature of `base` by this key. It takes constant time if the key is a secret. */
export function fitsBase({ algorithm, key }: VerificationKey, base: string, signature: Uint8Array): boolean {
  if (algorithm === 'ed25519') return verify(null, toBytes(base), key, signature)
  const wanted = createHmac('sha256', key).update(base, 'latin1').digest()
  return wanted.length === signature.length && timingSafeEqual(wanted, signature)
}

// Each character becomes one byte, as HTTP carries header values.
function toBytes(base: string): Uint8Array {
  return Buffer.from(base, 'latin1')
}
