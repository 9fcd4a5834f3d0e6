import type { UrlRefusal } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { urlChecker } from '../src/check-url.ts'

const GOOD = [
  'http://bank.test/a',
  'https://bank.test',
  'http://127.0.0.1:8080/x?y=1&z=%20',
  'http://bank.test/%23?q=a%26gid%3D1',
  'http://bank.test/?GID=1&opx=2',
  'bank:/debit?x=1',
]

const RESERVED: readonly (readonly [string, string])[] = [
  ['our gid', 'http://bank.test/?gid=1'],
  ['our gid, written otherwise', 'http://bank.test/?%67%69%64=1'],
  ['our op behind others', 'http://bank.test/?a=1&op=action'],
  ['our branch_id without a value', 'http://bank.test/?branch_id'],
  ['our trans_type', 'http://bank.test/?trans_type=saga&x'],
  ['our gid to a named service', 'bank:/debit?gid=1'],
]

const REFUSAL: UrlRefusal = { code: 'SAGA_TARGET_NOT_ALLOWED', message: 'is no target' }

describe('the check of a URL', () => {
  it.each(GOOD)('lets pass %s, and asks the host once', (url) => {
    const asked: string[] = []
    const check = urlChecker((each) => {
      asked.push(each)
      return undefined
    })
    expect([check(url), check(url), check(url)]).toEqual([undefined, undefined, undefined])
    expect(asked).toEqual([url])
  })

  it.each(RESERVED)('refuses one with %s, again and again', (_, url) => {
    const check = urlChecker(() => undefined)
    const refusal = check(url)
    expect(refusal).toEqual({
      code: 'SAGA_URL_INVALID',
      message: expect.stringContaining('must not have a query parameter'),
    })
    expect([check(url), check(url)]).toEqual([refusal, refusal])
  })

  it('S1: refuses what the host refuses, again and again', () => {
    const check = urlChecker(() => REFUSAL)
    for (const url of GOOD) expect([check(url), check(url)]).toEqual([REFUSAL, REFUSAL])
  })

  it('remembers a bounded number and stays right', () => {
    const check = urlChecker((url) => (url.endsWith('x') ? REFUSAL : undefined))
    for (let n = 0; n < 5_000; n++) {
      expect(check(`http://bank.test/${n}`)).toBeUndefined()
      expect(check(`http://bank.test/${n}x`)).toBe(REFUSAL)
    }
    expect(check('http://bank.test/0')).toBeUndefined()
  })
})
