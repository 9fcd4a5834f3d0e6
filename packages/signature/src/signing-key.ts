import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { computeKeyId } from './key-id.ts'
import { parseSecretKey } from './secret-key.ts'

export type SignatureAlgorithm = 'ed25519' | 'hmac-sha256'

export interface SigningKey {
  readonly algorithm: SignatureAlgorithm
  readonly keyId: string
  readonly key: KeyObject
}

const SECRET_BYTES = 32

/**
 * Reads the key in a file's text: an Ed25519 private key in PEM, or JSON `{"keyid", "alg": "hmac-sha256", "secret"}`.
 * Throws a TypeError whose message has nothing of the text in it.
 */
export function parseSigningKey(text: string): SigningKey {
  const trimmed = text.trim()
  return trimmed.startsWith('{') ? parseSecretKey(trimmed) : parsePrivateKey(trimmed)
}

function parsePrivateKey(pem: string): SigningKey {
  const key = readPrivateKey(pem)
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new TypeError(
      'a signing key is an Ed25519 private key in PEM, without a passphrase, or JSON for HMAC',
    )
  }
  return { algorithm: 'ed25519', keyId: computeKeyId(createPublicKey(key)), key }
}

function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch (error: unknown) {
    // OpenSSL has many messages for a text that is not a key. None of them helps, and one may quote the text.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Makes a new key, as the text that `parseSigningKey` takes. */
export function createSigningKeyText(algorithm: SignatureAlgorithm): string {
  if (algorithm === 'ed25519') {
    return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
  const keyid = randomBytes(12).toString('base64url')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return `${JSON.stringify({ keyid, alg: 'hmac-sha256', secret })}\n`
}

/**
 * Returns the public key that services are given, on one line. It is undefined for a secret, which has no public
 * half.
 */
export function toPublicJwk({ algorithm, keyId, key }: SigningKey): string | undefined {
  if (algorithm !== 'ed25519') return undefined
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' })
  return JSON.stringify({ kty, crv, x, kid: keyId })
}
