import { expect, it } from 'vitest'
import { canary, findCanaries } from './canary.ts'

it('S28: A secret is found in clear, in base64 at any place, in hex, and in a URL', () => {
  const secret = canary('password')
  const shown = [
    secret,
    ...[0, 1, 2, 3].map((before) => Buffer.from('u'.repeat(before) + secret).toString('base64')),
    Buffer.from(secret).toString('hex'),
    encodeURIComponent(`:${secret}@`),
    secret.toUpperCase(),
  ]
  for (const text of shown) expect(findCanaries({ log: `before ${text} after` })).not.toEqual([])
  expect(findCanaries({ log: 'a canary that is none, YWJj' })).toEqual([])
})
