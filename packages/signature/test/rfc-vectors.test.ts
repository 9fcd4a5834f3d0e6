import { describe, expect, it } from 'vitest'
import { buildSignatureBase, computeContentDigest, fitsBase, signBase } from '../src/index.ts'
import { ED25519, ED25519_PUBLIC, HMAC, HMAC_SHARED } from './signed-call.ts'

/** These are the test request, the keys and the signatures of RFC 9421, appendix B.2. */
const VECTORS = [
  {
    title: 'B.2.5: HMAC-SHA256',
    key: HMAC,
    shared: HMAC_SHARED,
    components: [
      ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
      ['@authority', 'example.com'],
      ['content-type', 'application/json'],
    ],
    parameters: '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    signature: 'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=',
  },
  {
    title: 'B.2.6: Ed25519',
    key: ED25519,
    shared: ED25519_PUBLIC,
    components: [
      ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
      ['@method', 'POST'],
      ['@path', '/foo'],
      ['@authority', 'example.com'],
      ['content-type', 'application/json'],
      ['content-length', '18'],
    ],
    parameters:
      '("date" "@method" "@path" "@authority" "content-type" "content-length")' +
      ';created=1618884473;keyid="test-key-ed25519"',
    signature: 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
  },
] as const

describe('S18: the test vectors of RFC 9421', () => {
  for (const { title, key, shared, components, parameters, signature } of VECTORS) {
    it(`The vector of the RFC is signed and verified: ${title}`, () => {
      const base = buildSignatureBase(components, parameters)
      expect(base.split('\n')).toHaveLength(components.length + 1)
      expect(signBase(key, base)).toBe(signature)
      expect(fitsBase(shared, base, Buffer.from(signature, 'base64'))).toBe(true)
      expect(fitsBase(shared, `${base} `, Buffer.from(signature, 'base64'))).toBe(false)
    })
  }

  it('The digest of RFC 9530 is that of its example body', () => {
    expect(computeContentDigest('{"hello": "world"}\n')).toBe(
      'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
    )
  })
})
