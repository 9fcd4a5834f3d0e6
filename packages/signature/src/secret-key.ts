import { createSecretKey, type KeyObject } from 'node:crypto'

const SECRET_BYTES_MIN = 32
const KEY_ID = /^[\w.:-]{1,64}$/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Signs as well as it verifies, because both sides have the same secret. */
export interface SecretKey {
  readonly algorithm: 'hmac-sha256'
  readonly keyId: string
  readonly key: KeyObject
}

/** Reads `{"keyid", "alg": "hmac-sha256", "secret"}`. The secret is base64 or base64url of at least 32 bytes. */
export function parseSecretKey(source: string | object): SecretKey {
  const { keyid, alg, secret } = readFields(source)
  if (alg !== 'hmac-sha256') throw new TypeError('the alg of a secret key is "hmac-sha256"')
  if (typeof keyid !== 'string' || !KEY_ID.test(keyid)) {
    throw new TypeError('the keyid of a secret key is 1 to 64 letters, digits, _, ., : and -')
  }
  const bytes = typeof secret === 'string' && BASE64.test(secret) ? Buffer.from(secret, 'base64') : undefined
  if (bytes === undefined || bytes.length < SECRET_BYTES_MIN) {
    throw new TypeError(`the secret of a key is base64 of at least ${SECRET_BYTES_MIN} bytes`)
  }
  return { algorithm: 'hmac-sha256', keyId: keyid, key: createSecretKey(bytes) }
}

/** Returns the fields of an object, or of an object in JSON. */
export function readFields(source: string | object): Readonly<Record<string, unknown>> {
  const value = typeof source === 'string' ? parseJson(source) : source
  if (typeof value !== 'object' || value === null) throw new TypeError('a key in JSON is an object')
  return value as Readonly<Record<string, unknown>>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error: unknown) {
    // JSON.parse quotes the text that it could not read, which may be the secret.
    if (error instanceof SyntaxError) throw new TypeError('a key that begins with { must be JSON')
    throw error
  }
}
