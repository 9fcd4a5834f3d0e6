import { describe, expect, it } from 'vitest'
import { readServiceName } from './service-name.ts'

const NAMES: readonly (readonly [url: string, service: string])[] = [
  ['bank-a:/debit', 'bank-a'],
  ['bank-a:/debit?token=secret', 'bank-a'],
  ['http://bank.test/debit', 'bank.test'],
  ['http://Bank.Test:8080/debit?token=secret#x', 'bank.test:8080'],
  ['https://user:secret@bank.test/debit', 'bank.test'],
  ['https://bank.test', 'bank.test'],
  ['https://bank.test?token=secret', 'bank.test'],
  ['http://[::1]:9001/debit', '[::1]:9001'],
  ['http://bank.test\\debit', 'bank.test'],
  ['http://bank.test/{place}', 'bank.test'],
  ['127.0.0.1:5000/bank.Bank/Debit', '127.0.0.1:5000'],
  ['http://@', 'http:'],
  ['', 'unknown'],
  ['/debit', 'unknown'],
]

describe('the name of a service', () => {
  for (const [url, service] of NAMES) {
    it(`The service of "${url}" is ${service}`, () => {
      expect(readServiceName(url)).toBe(service)
      expect(readServiceName(url)).not.toMatch(/\s|secret/)
    })
  }
})
