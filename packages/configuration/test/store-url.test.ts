import { expect, it } from 'vitest'
import { readFunctionConfig } from '../src/read-function-config.ts'
import { type FunctionStoreConfig, storeUrl } from '../src/store-config.ts'

const SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:store'

function readStore(url: string, more: Readonly<Record<string, string>>): FunctionStoreConfig {
  const environment = { COUNTERSTEP_STORE: url, COUNTERSTEP_ALLOW_TARGETS: 'https://bank.example', ...more }
  const read = readFunctionConfig('worker', environment)
  if ('problems' in read) throw new Error(read.problems.join(' '))
  return read.config.store
}

const CASES = [
  ['mysql://u@db/x', 'p@s:s/?', 'mysql://u:p%40s%3As%2F%3F@db/x'],
  ['mysql://u@db:3307/x', 'plain', 'mysql://u:plain@db:3307/x'],
  ['redis://cache:6380/3', 'plain', 'redis://:plain@cache:6380/3'],
  ['rediss-cluster://u@a:1,b:2', 'plain', 'rediss-cluster://u:plain@a:1,b:2'],
] as const
it.each(CASES)('The URL %s takes the password %s that comes later', (url, password, expected) => {
  const store = readStore(url, { COUNTERSTEP_STORE_PASSWORD_SECRET: SECRET })
  expect(storeUrl(store, password)).toBe(expected)
  expect(store.place).toBe(url)
})

it('The URL of Redis says that TLS is wanted, as in a server', () => {
  const store = readStore('redis://cache', {
    COUNTERSTEP_STORE_PASSWORD_SECRET: SECRET,
    COUNTERSTEP_STORE_TLS: 'required',
  })
  expect(storeUrl(store, 'p')).toBe('rediss://:p@cache')
  expect(store.place).toBe('rediss://cache')
})

it('Without a secret the URL has the password that was given, or none', () => {
  expect(storeUrl(readStore('mysql://u:p@db/x', {}), undefined)).toBe('mysql://u:p@db/x')
  const given = { COUNTERSTEP_STORE_PASSWORD: 'q' }
  expect(storeUrl(readStore('mysql://u@db/x', given), undefined)).toBe('mysql://u:q@db/x')
  expect(storeUrl(readStore('redis://127.0.0.1:6379', {}), undefined)).toBe('redis://127.0.0.1:6379')
})
