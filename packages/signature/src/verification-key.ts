import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { computeKeyId } from './key-id.ts'
import { parseSecretKey, readFields } from './secret-key.ts'
import type { SignatureAlgorithm } from './signing-key.ts'

/** Holds what a service knows of a signer. The algorithm is that of the key, whatever a message says. */
export interface VerificationKey {
  readonly algorithm: SignatureAlgorithm
  readonly keyId: string
  readonly key: KeyObject
}

/** A key is a JWK, a public key in PEM, or `{ keyid, alg: 'hmac-sha256', secret }`. An object may also be its JSON. */
export type VerificationKeyText = string | object

/** Throws a TypeError whose message has nothing of the key in it. */
export function parseVerificationKey(source: VerificationKeyText): VerificationKey {
  if (typeof source === 'string' && !source.trimStart().startsWith('{')) return parsePemKey(source)
  const fields = readFields(source)
  if ('secret' in fields) return parseSecretKey(fields)
  if ('d' in fields) throw buildPrivateHalfError()
  const { kty, crv, x, kid } = fields
  if (kty !== 'OKP' || crv !== 'Ed25519') throw new TypeError('a JWK must have kty "OKP" and crv "Ed25519"')
  const found = readPublicKey(() => createPublicKey({ key: { kty, crv, x } as JsonWebKey, format: 'jwk' }))
  if (kid !== undefined && kid !== found.keyId) {
    throw new TypeError('the kid of a JWK must be that of its own x: they were mixed up')
  }
  return found
}

function parsePemKey(pem: string): VerificationKey {
  // Node would derive the public key from a private one, and the service would then hold a key that can sign.
  if (pem.includes('PRIVATE KEY')) throw buildPrivateHalfError()
  return readPublicKey(() => createPublicKey(pem))
}

function readPublicKey(read: () => KeyObject): VerificationKey {
  const key = tryReadKey(read)
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new TypeError('a key is an Ed25519 public key, as JWK or PEM, or JSON with a secret')
  }
  return { algorithm: 'ed25519', keyId: computeKeyId(key), key }
}

function tryReadKey(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch (error: unknown) {
    if (error instanceof Error) return undefined
    throw error
  }
}

function buildPrivateHalfError(): TypeError {
  return new TypeError('this is the private half, which only the orchestrator may have: give the public one')
}
