import { describe, expect, it } from 'vitest'
import { urlChecker } from '../src/check-url.ts'

const GOOD = [
  'http://bank.test/a',
  'https://bank.test',
  'HTTPS://BANK.TEST/A',
  'http://127.0.0.1:8080/x?y=1&z=%20',
  'http://[::1]:80/',
  'http://bank.test/%23?q=a%26gid%3D1',
  'http://bank.test/?GID=1&opx=2',
  'http://bank.test/a/../b',
  `http://bank.test/${'a'.repeat(2_000)}`,
]

const HOSTILE: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a path', '/a'],
  ['without a scheme', 'bank.test/a'],
  ['without slashes', 'http:bank.test'],
  ['with one slash', 'http:/bank.test'],
  ['relative to a scheme', '//bank.test/a'],
  ['a file', 'file:///etc/passwd'],
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/plain,x'],
  ['ftp', 'ftp://bank.test/a'],
  ['a websocket', 'ws://bank.test/a'],
  ['unix', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/x'],
  ['without a host', 'http://'],
  ['with only a port', 'http://:80/'],
  ['with a user', 'http://user@bank.test/'],
  ['with a password', 'http://user:secret@bank.test/'],
  ['with a password alone', 'http://:secret@bank.test/'],
  ['with another host before the at', 'http://good.test@evil.test/'],
  ['with a fragment', 'http://bank.test/a#b'],
  ['with an empty fragment', 'http://bank.test/a#'],
  ['with a space', 'http://bank.test/a b'],
  ['with a leading space', ' http://bank.test/'],
  ['with a trailing line break', 'http://bank.test/\n'],
  ['with a tab that a parser drops', 'ht\ttp://bank.test/'],
  ['with a line break that a parser drops', 'http://bank\n.test/'],
  ['with a header behind a line break', 'http://bank.test/ HTTP/1.1\r\nX: 1'],
  ['with a backslash that a parser turns', 'http://good.test\\@evil.test/'],
  ['with a nul', 'http://bank.test/\u0000'],
  ['with an encoded nul in the host', 'http://bank%00.test/'],
  ['with a letter that is not ASCII', 'http://bänk.test/'],
  ['with a full-width dot', 'http://bank\u3002test/'],
  ['with a bidirectional mark', 'http://bank.test/\u202e'],
  ['with a port too large', 'http://bank.test:65536/'],
  ['with a port that is not one', 'http://bank.test:8o/'],
  ['with an address that is not one', 'http://1.2.3.4.5.256/'],
  ['with half an IPv6 address', 'http://[::1/'],
  ['with our gid', 'http://bank.test/?gid=1'],
  ['with our gid, written otherwise', 'http://bank.test/?%67%69%64=1'],
  ['with our op behind others', 'http://bank.test/?a=1&op=action'],
  ['with our branch_id without a value', 'http://bank.test/?branch_id'],
  ['with our trans_type', 'http://bank.test/?trans_type=saga&x'],
]

describe('the check of a URL', () => {
  it.each(GOOD)('lets pass %s, again and again', (url) => {
    const check = urlChecker()
    expect([check(url), check(url), check(url)]).toEqual([undefined, undefined, undefined])
  })

  it.each(HOSTILE)('refuses one %s, again and again', (_, url) => {
    const check = urlChecker()
    const refusal = check(url)
    expect(refusal).toMatch(/must|is not/)
    expect([check(url), check(url)]).toEqual([refusal, refusal])
  })

  it('remembers a bounded number and stays right', () => {
    const check = urlChecker()
    for (let n = 0; n < 5_000; n++) {
      expect(check(`http://bank.test/${n}`)).toBeUndefined()
      expect(check(`http://bank.test/${n}#x`)).toBeDefined()
    }
    expect(check('http://bank.test/0')).toBeUndefined()
  })

  it('does not repeat the URL, which may hold a secret', () => {
    const check = urlChecker()
    for (const [, url] of HOSTILE) expect(check(url)).not.toContain('secret')
  })
})
