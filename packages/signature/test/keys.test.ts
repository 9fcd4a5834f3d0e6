import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSigningKeyText, parseSigningKey, parseVerificationKey, toPublicJwk } from '../src/index.ts'
import { ED25519, ED25519_PUBLIC } from './signed-call.ts'

describe('keys', () => {
  it('A key has an id that is the start of the thumbprint of RFC 8037, A.3', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
    const { keyId } = parseVerificationKey({ kty: 'OKP', crv: 'Ed25519', x })
    expect('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'.startsWith(keyId)).toBe(true)
    expect(keyId).toHaveLength(16)
  })

  it('A key is made, read, and shown to services in one line', () => {
    const key = parseSigningKey(createSigningKeyText('ed25519'))
    const line = toPublicJwk(key) ?? ''
    expect(line).not.toContain('"d"')
    expect(parseVerificationKey(line)).toMatchObject({ algorithm: 'ed25519', keyId: key.keyId })
    const secretText = createSigningKeyText('hmac-sha256')
    const secret = parseSigningKey(secretText)
    expect([secret.algorithm, toPublicJwk(secret)]).toEqual(['hmac-sha256', undefined])
    expect(parseVerificationKey(secretText).keyId).toBe(secret.keyId)
    expect(ED25519_PUBLIC.keyId).toBe(ED25519.keyId)
  })

  it('S19: A key is refused where it is no key, too short, of another kind, or the half that services must not have', () => {
    const pem = createSigningKeyText('ed25519')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const rsaPem = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const hmac = (fields: object) => ({ keyid: 'a', alg: 'hmac-sha256', secret: 'A'.repeat(43), ...fields })
    for (const text of ['', 'x', rsaPem, '{', '{"secret":1}', JSON.stringify(hmac({ secret: 'QUJD' }))]) {
      expect(() => parseSigningKey(text)).toThrow(TypeError)
    }
    const { kty, crv, x, d } = parseSigningKey(pem).key.export({ format: 'jwk' })
    for (const source of [
      '',
      pem,
      rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      { kty, crv, x, d },
      { kty, crv, x, kid: 'another' },
      { kty, crv, x: 'short' },
      rsa.publicKey.export({ format: 'jwk' }),
      hmac({ alg: 'ed25519' }),
      hmac({ alg: undefined }),
      hmac({ keyid: 'a"b' }),
      hmac({ secret: 'A'.repeat(42) }),
    ]) {
      expect(() => parseVerificationKey(source), JSON.stringify(source)).toThrow(TypeError)
    }
    expect(parseVerificationKey(hmac({}))).toMatchObject({ keyId: 'a' })
  })

  it('S28: An error about a key quotes nothing of the key', () => {
    for (const text of [
      '{"secret":"canary-5f1"',
      'canary-5f1',
      '{"keyid":"k","alg":"hmac-sha256","secret":"canary"}',
    ]) {
      expect(() => parseSigningKey(text)).toThrow(/^(?!.*canary)/)
    }
  })
})
