import { describe, expect, it } from 'vitest'
import { type TargetPolicy, targetPolicy } from '../../src/targets/target-policy.ts'

/** These are the free targets of a server for this machine, so a URL that is refused is refused for its notation. */
const free: TargetPolicy = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true })

const GOOD = [
  'http://bank.test/a',
  'https://bank.test',
  'HTTPS://BANK.TEST/A',
  'http://127.0.0.1:8080/x?y=1&z=%20',
  'http://[::1]:80/',
  'http://bank.test:/a',
  'http://bank.test/?@:*',
  'http://bank.test/a/../b',
  'https://xn--bnk-qla.test/',
  `http://bank.test/${'a'.repeat(2_000)}`,
]

/** Two readers may take each of these for two different URLs. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a path', '/a'],
  ['without a scheme', 'bank.test/a'],
  ['without slashes', 'http:bank.test'],
  ['with one slash', 'http:/bank.test'],
  ['with three slashes', 'http:///bank.test/'],
  ['relative to a scheme', '//bank.test/a'],
  ['a file', 'file:///etc/passwd'],
  ['gopher', 'gopher://bank.test/'],
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
  ['with an empty login', 'http://@bank.test/'],
  ['with another host before the at', 'http://good.test@evil.test/'],
  ['with an encoded at', 'http://good.test%40evil.test/'],
  ['with a fragment that hides a host', 'http://good.test#@evil.test/'],
  ['with a leading space', ' http://bank.test/'],
  ['with a tab that a parser drops', 'ht\ttp://bank.test/'],
  ['with a tab in the host', 'http://127.0\t.0.1/'],
  ['with a line break that a parser drops', 'http://bank\n.test/'],
  ['with a backslash that a parser turns', 'http://good.test\\@evil.test/'],
  ['with backslashes for slashes', 'http:\\\\bank.test\\'],
  ['with an encoded nul in the host', 'http://bank%00.test/'],
  ['with a letter that is not ASCII', 'http://bänk.test/'],
  ['with full-width digits', 'http://１２７.0.0.1/'],
  ['with a full-width dot', 'http://bank\u3002test/'],
  ['with a port too large', 'http://bank.test:65536/'],
  ['with a port that is not one', 'http://bank.test:8o/'],
  ['with an address that is not one', 'http://1.2.3.4.5.256/'],
  ['with half an IPv6 address', 'http://[::1/'],
  ['with a zone', 'http://[fe80::1%eth0]/'],
  ['with an encoded zone', 'http://[fe80::1%25eth0]/'],
  ['loopback in hexadecimal', 'http://0x7f.1/'],
  ['loopback in hexadecimal, whole', 'http://0x7f000001/'],
  ['loopback as one number', 'http://2130706433/'],
  ['loopback in octal', 'http://017700000001/'],
  ['loopback in octal parts', 'http://0177.0.0.01/'],
  ['loopback in two parts', 'http://127.1/'],
  ['loopback in three parts', 'http://127.0.1/'],
  ['this host as 0', 'http://0/'],
  ['loopback with a dot at its end', 'http://127.0.0.1./'],
  ['localhost with a dot at its end', 'http://localhost./'],
  ['a name with a dot at its end', 'http://bank.test./'],
  ['with an encoded digit', 'http://%3127.0.0.1/'],
  ['an IPv6 loopback in full', 'http://[0:0:0:0:0:0:0:1]/'],
  ['a mapped loopback in dots', 'http://[::ffff:127.0.0.1]/'],
  ['a service with two slashes', 'bank://debit'],
  ['a service without a slash', 'bank:debit'],
]

/** Each of these goes to a safe place, but in a notation that readers may change. */
const ODD: readonly (readonly [string, string])[] = [
  ['with a fragment', 'http://bank.test/a#b'],
  ['with an empty fragment', 'http://bank.test/a#'],
  ['with a space', 'http://bank.test/a b'],
  ['with a trailing line break', 'http://bank.test/\n'],
  ['with a header behind a line break', 'http://bank.test/ HTTP/1.1\r\nX: 1'],
  ['with a nul', 'http://bank.test/\u0000'],
  ['with a bidirectional mark', 'http://bank.test/\u202e'],
]

describe('S2: a URL', () => {
  it.each(GOOD)('A URL in its usual notation passes: %s', (url) => {
    expect([free.check(url), free.check(url)]).toEqual([undefined, undefined])
    expect(free.resolve(url)).toBeInstanceOf(URL)
  })

  it.each(HOSTILE)('A URL is refused at submit and at the call: %s', (_, url) => {
    const refusal = { code: 'SAGA_URL_INVALID', message: expect.stringMatching(/must|is not/) }
    expect([free.check(url), free.check(url), free.resolve(url)]).toEqual([refusal, refusal, refusal])
  })

  it.each(ODD)('A URL is refused at submit, but called if it was stored before that rule: %s', (_, url) => {
    expect(free.check(url)).toEqual({ code: 'SAGA_URL_INVALID', message: expect.stringContaining('must') })
    expect(free.resolve(url)).toMatchObject({ origin: 'http://bank.test' })
  })

  it.each(['http://', 'http:///', 'http://\t/', 'http://\n', 'https://a@'])(
    'S41: A URL with a host of 2,000 letters behind %j is refused in no time',
    (start) => {
      const letters = String.fromCharCode(...Array.from({ length: 2_000 }, (_, n) => 0x4e00 + n))
      const from = performance.now()
      for (let count = 0; count < 100; count++)
        expect(free.check(`${start}${letters}/${count}`)).toMatchObject({ code: 'SAGA_URL_INVALID' })
      expect(performance.now() - from).toBeLessThan(500)
    },
  )

  it('The message does not repeat a refused URL, since it may hold a secret', () => {
    for (const [, url] of HOSTILE) expect(free.check(url)?.message).not.toMatch(/secret|evil/)
  })

  it('A URL is still judged alike after more URLs than are remembered', () => {
    for (let n = 0; n < 5_000; n++) {
      expect(free.check(`http://bank.test/${n}`)).toBeUndefined()
      expect(free.check(`http://bank.test/${n}#x`)).toBeDefined()
    }
    expect(free.check('http://bank.test/0')).toBeUndefined()
  })
})
