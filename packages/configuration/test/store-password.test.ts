import { expect, it } from 'vitest'
import { readSecretPassword } from '../src/store-password.ts'

const CASES = [
  ['nothing but the password', 'p@ss', { value: 'p@ss' }],
  ["an editor's line break at its end", 'p@ss\r\n', { value: 'p@ss' }],
  ['spaces, which belong to the password', ' p ', { value: ' p ' }],
  ['the JSON of RDS', '{"username":"u","password":"p\\"","port":3306}\n', { value: 'p"' }],
  ['a password that looks like JSON', '{p', { value: '{p' }],
  ['nothing', '', { problem: 'is an empty secret' }],
  ['a line break alone', '\n', { problem: 'is an empty secret' }],
  ['JSON without a password', '{"username":"canary"}', { problem: 'is JSON without a "password"' }],
  ['JSON with an empty password', '{"password":""}', { problem: 'is JSON without a "password"' }],
  ['JSON with a number as the password', '{"password":7}', { problem: 'is JSON without a "password"' }],
] as const
it.each(CASES)('A secret is read as the password, or refused, when it has %s', (_what, text, expected) => {
  expect(readSecretPassword(text)).toEqual(expected)
})
