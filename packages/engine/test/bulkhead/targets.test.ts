import { SHARED_TARGETS, UNLISTED_TARGETS_MAX } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { cutBeforePath, Targets } from '../../src/bulkhead/targets.ts'
import { findOriginOfUrl } from '../../src/find-origin.ts'

describe('S40: the target of a URL', () => {
  it('is its origin, in any spelling', () => {
    const targets = new Targets(findOriginOfUrl, () => 0)
    const one = targets.find('http://bank.test/debit')
    for (const url of [
      'http://bank.test',
      'http://bank.test:80/x',
      'http://BANK.test/y?z=/',
      'http://bank.test?q=/',
    ])
      expect(targets.find(url)).toBe(one)
    for (const url of ['https://bank.test/debit', 'http://bank.test:81/debit', 'http://bank.test.evil/debit'])
      expect(targets.find(url)).not.toBe(one)
  })

  it('is the origin of a named service, as its host says', () => {
    const origin = 'http://10.0.0.5:8080'
    const findOrigin = (url: string) => (/^(bank|ledger):/.test(url) ? origin : findOriginOfUrl(url))
    const targets = new Targets(findOrigin, () => 0)
    const one = targets.find('bank:/debit')
    expect(targets.find('ledger:/note')).toBe(one)
    expect(targets.find('http://10.0.0.5:8080/api/debit')).toBe(one)
    expect(one.name).toBe(origin)
  })

  it('is found by the text before its path', () => {
    const texts = ['https://a.b:1/c?d', 'https://a.b:1?c/d', 'https://a.b:1', 'bank:/a/b?c', 'bank:']
    expect(texts.map(cutBeforePath)).toEqual([
      'https://a.b:1',
      'https://a.b:1',
      'https://a.b:1',
      'bank:',
      'bank:',
    ])
  })

  it('is one of a few for all beyond the bound, until a target was not called for a minute', () => {
    let now = 0
    const targets = new Targets(findOriginOfUrl, () => now)
    const known = Array.from({ length: UNLISTED_TARGETS_MAX }, (_, n) => targets.find(`http://h${n}.test/`))
    const busy = known[0]
    busy?.held.splice(0, 1, 1)
    const beyond = targets.find('http://more.test/')
    expect(targets.find('http://more.test/x')).toBe(beyond)
    const many = Array.from({ length: 500 }, (_, n) => targets.find(`http://m${n}.test/`))
    expect(new Set(many).size).toBe(SHARED_TARGETS)
    expect(many).toContain(beyond)
    expect(targets.find('http://h7.test/')).toBe(known[7])
    now = 60_000
    expect(targets.find('http://more.test/')).toBe(beyond)
    // Since then only this one was called.
    expect(targets.find('http://h7.test/')).toBe(known[7])
    now = 120_000
    expect(targets.find('http://more.test/')).not.toBe(beyond)
    expect(targets.find('http://h7.test/')).toBe(known[7])
    expect(targets.find('http://h0.test/')).toBe(busy)
    expect(targets.find('http://h8.test/')).not.toBe(known[8])
    expect(targets.all()).toHaveLength(4 + SHARED_TARGETS)
  })

  it('is its own for a listed origin, however many others came first and however long it was not called', () => {
    let now = 0
    const targets = new Targets(findOriginOfUrl, () => now, ['http://bank.test', 'https://ledger.test'])
    const one = targets.find('http://bank.test/debit')
    expect([one.name, one.isListed]).toEqual(['http://bank.test', true])
    for (let n = 0; n < 1_000; n++) expect(targets.find(`http://h${n}.test/`).isListed).toBe(false)
    now = 3_600_000
    for (let n = 0; n < 1_000; n++) targets.find(`http://g${n}.test/`)
    expect(targets.find('http://BANK.test:80/x')).toBe(one)
    expect(targets.find('https://ledger.test').name).toBe('https://ledger.test')
  })
})
