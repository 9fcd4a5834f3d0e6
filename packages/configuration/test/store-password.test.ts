import { expect, it } from 'vitest'
import { readSecretPassword } from '../src/store-password.ts'

const CASES = [
  ['the password alone', 'p@ss', { value: 'p@ss' }],
  ['a line break of an editor', 'p@ss\r\n', { value: 'p@ss' }],
  ['spaces, which are part of it', ' p ', { value: ' p ' }],
  ['the JSON of RDS', '{"username":"u","password":"p\\"","port":3306}\n', { value: 'p"' }],
  ['a password that looks like JSON', '{p', { value: '{p' }],
  ['nothing', '', { problem: 'is an empty secret' }],
  ['a line break alone', '\n', { problem: 'is an empty secret' }],
  ['JSON without a password', '{"username":"canary"}', { problem: 'is JSON without a "password"' }],
  ['JSON with an empty one', '{"password":""}', { problem: 'is JSON without a "password"' }],
  ['JSON with a number', '{"password":7}', { problem: 'is JSON without a "password"' }],
] as const
it.each(CASES)('a secret may be %s', (_what, text, expected) => {
  expect(readSecretPassword(text)).toEqual(expected)
})
