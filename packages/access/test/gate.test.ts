import { describe, expect, it } from 'vitest'
import { digestSecret } from '../src/digest-secret.ts'
import type { Guard } from '../src/gate.ts'
import {
  buildLoopbackHostRule,
  buildNamedHostRule,
  createGate,
  type GateSettings,
  KeyRate,
  type RequestHead,
  type RouteAccess,
  readBearerKey,
  readBearerOrBasicKey,
  readNetworks,
  SCOPES,
  type Scope,
  type StoredKey,
} from '../src/index.ts'
import { drawKeyParts, writeKey } from '../src/key-text.ts'

type Headers = Readonly<Record<string, string>>

function buildKey(scopes: readonly Scope[], expiresAt: number | null = null) {
  const parts = drawKeyParts()
  const stored: StoredKey = {
    id: parts.id,
    name: 'x',
    digest: digestSecret(parts.secret),
    scopes,
    createdAt: 0,
    expiresAt,
  }
  return { key: writeKey(parts), parts, stored }
}

function buildHead(headers: Headers = {}, remoteAddress = '192.0.2.1'): RequestHead {
  return { headers, socket: { remoteAddress } }
}

function buildBearerHead(key: string, more: Headers = {}): RequestHead {
  return buildHead({ authorization: `Bearer ${key}`, ...more })
}

function readRefusalCode(guard: Guard, head: RequestHead): string {
  const passed = guard(head)
  return passed instanceof Error ? passed.code : 'passes'
}

function buildGate(held: readonly StoredKey[], more: Partial<GateSettings> = {}) {
  const clock = { nowMs: 1_000 }
  const keys = new Map(held.map((key) => [key.id, key]))
  const finder = { find: (id: string) => keys.get(id) }
  const gate = createGate({ keys: finder, credentials: readBearerKey, nowMs: () => clock.nowMs, ...more })
  return { gate, keys, clock, read: gate.buildGuard(['read'], false) }
}

describe('S11: a key', () => {
  const one = buildKey(['read'])
  const other = buildKey(['read'])

  it('A key opens what one of its scopes opens, and nothing else', () => {
    const { gate } = buildGate([one.stored])
    expect(readRefusalCode(gate.buildGuard(['read'], false), buildBearerHead(one.key))).toBe('passes')
    expect(readRefusalCode(gate.buildGuard(['submit', 'read'], true), buildBearerHead(one.key))).toBe(
      'passes',
    )
    expect(readRefusalCode(gate.buildGuard(['submit'], true), buildBearerHead(one.key))).toBe(
      'SAGA_FORBIDDEN',
    )
    expect(readRefusalCode(gate.buildGuard(['submit', 'admin'], true), buildBearerHead(one.key))).toBe(
      'SAGA_FORBIDDEN',
    )
    expect(readRefusalCode(gate.buildGuard('open', false), buildHead())).toBe('passes')
  })

  const BAD: readonly (readonly [string, string])[] = [
    ['no key', ''],
    ['another scheme', `Token ${one.key}`],
    ['no scheme', one.key],
    ['Basic, which this HTTP API does not take', `Basic ${Buffer.from(`x:${one.key}`).toString('base64')}`],
    ['the secret of another key', `Bearer ${writeKey({ id: one.parts.id, secret: other.parts.secret })}`],
    ['an id that is not known', `Bearer ${writeKey({ id: other.parts.id, secret: one.parts.secret })}`],
    ['a letter too many', `Bearer ${one.key}A`],
    ['a letter too few', `Bearer ${one.key.slice(0, -1)}`],
    ['two keys', `Bearer ${one.key} ${one.key}`],
    ['the stored digest', `Bearer cs_${one.stored.id}_${one.stored.digest.toString('base64url')}`],
  ]
  for (const [what, authorization] of BAD) {
    it(`A caller is not let in with ${what}`, () => {
      const { read } = buildGate([one.stored])
      expect(readRefusalCode(read, buildHead({ authorization }))).toBe('SAGA_UNAUTHENTICATED')
    })
  }

  it('A key with any letter changed is not accepted', () => {
    const { gate } = buildGate([one.stored])
    for (let position = 0; position < one.key.length; position += 1) {
      const letter = one.key[position] === 'a' ? 'b' : 'a'
      const changed = one.key.slice(0, position) + letter + one.key.slice(position + 1)
      expect(gate.allowsScope('read', buildBearerHead(changed)), `at ${position}`).toBe(false)
    }
    expect(gate.allowsScope('read', buildBearerHead(one.key))).toBe(true)
    expect(gate.allowsScope('admin', buildBearerHead(one.key))).toBe(false)
  })

  it('A key is accepted until the instant at which it expires', () => {
    const brief = buildKey(['read'], 5_000)
    const { read, clock } = buildGate([brief.stored])
    clock.nowMs = 4_999
    expect(readRefusalCode(read, buildBearerHead(brief.key))).toBe('passes')
    clock.nowMs = 5_000
    expect(readRefusalCode(read, buildBearerHead(brief.key))).toBe('SAGA_UNAUTHENTICATED')
  })

  it('A key is not accepted once it is revoked', () => {
    const { gate, read, keys } = buildGate([one.stored])
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('passes')
    expect(gate.knows(one.stored.id)).toBe(true)
    keys.delete(one.stored.id)
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('SAGA_UNAUTHENTICATED')
    expect([gate.knows(one.stored.id), gate.knows('192.0.2.1')]).toEqual([false, true])
  })

  it('A key may be the password of HTTP Basic, under any user name, where the HTTP API takes that', () => {
    const { read } = buildGate([one.stored], { credentials: readBearerOrBasicKey })
    for (const user of ['', 'key', 'a:b'.slice(0, 1)]) {
      const authorization = `Basic ${Buffer.from(`${user}:${one.key}`).toString('base64')}`
      expect(readRefusalCode(read, buildHead({ authorization }))).toBe('passes')
    }
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('passes')
    expect(readRefusalCode(read, buildHead({ authorization: `Basic ${btoa(one.key)}` }))).toBe(
      'SAGA_UNAUTHENTICATED',
    )
  })

  it('The text of a refusal does not contain the key', () => {
    const { gate } = buildGate([])
    const refusal = gate.buildGuard(['read'], false)(buildBearerHead(one.key))
    if (!(refusal instanceof Error)) throw new Error('it is not refused')
    expect(JSON.stringify([refusal, refusal.message, refusal.stack])).not.toContain(one.parts.secret)
  })

  const NAMED = ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1', '192.0.2.7']
  const OTHERS = ['11.0.0.1', '::ffff:11.0.0.1', '127.0.0.1', '::1', 'fe80::1', '192.0.2.8', '']
  const networks = () => readNetworks(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']) ?? { has: () => false }

  it('S43: No key is needed for a submit from the networks that the configuration names, and for nothing else', () => {
    const { gate } = buildGate([one.stored], { keylessNetworks: networks() })
    const may = (scopes: RouteAccess, address: string) =>
      readRefusalCode(gate.buildGuard(scopes, true), buildHead({}, address))
    for (const address of NAMED) {
      expect([address, may(['submit'], address)]).toEqual([address, 'passes'])
      expect([address, may(['submit', 'admin'], address)]).toEqual([address, 'passes'])
    }
    for (const address of NAMED.slice(0, 2)) {
      expect([address, may(['read'], address)]).toEqual([address, 'SAGA_UNAUTHENTICATED'])
      expect([address, may(['admin'], address)]).toEqual([address, 'SAGA_UNAUTHENTICATED'])
      expect(gate.allowsScope('read', buildHead({}, address))).toBe(false)
      expect(readRefusalCode(gate.buildGuard(['read'], false), buildBearerHead(one.key))).toBe('passes')
    }
    for (const address of OTHERS)
      expect([address, may(['submit'], address)]).toEqual([address, 'SAGA_UNAUTHENTICATED'])
  })

  it('S43: No key is needed from those networks for more, once the configuration says so by name (mutant of the default)', () => {
    const { gate } = buildGate([one.stored], { keylessNetworks: networks(), keylessScopes: SCOPES })
    for (const scope of SCOPES)
      expect(readRefusalCode(gate.buildGuard([scope], true), buildHead({}, '10.1.2.3'))).toBe('passes')
    expect(gate.allowsScope('read', buildHead({}, '10.1.2.3'))).toBe(true)
    expect(readRefusalCode(gate.buildGuard(['read'], true), buildHead({}, '11.0.0.1'))).toBe(
      'SAGA_UNAUTHENTICATED',
    )
  })
})

describe('a list of networks', () => {
  for (const cidr of [
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'localhost',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/-1',
  ]) {
    it(`A network is refused that is written as "${cidr}"`, () =>
      expect(readNetworks([cidr])).toBeUndefined())
  }
})

describe('S17: rates', () => {
  const one = buildKey(['read'])

  it('The eleventh failure of an address in a second is answered with 429, but a good key from there never is', () => {
    const { read, clock } = buildGate([one.stored])
    const outcomes = Array.from({ length: 12 }, () => readRefusalCode(read, buildHead()))
    expect(outcomes).toEqual([
      ...Array(10).fill('SAGA_UNAUTHENTICATED'),
      'SAGA_RATE_LIMITED',
      'SAGA_RATE_LIMITED',
    ])
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('passes')
    expect(readRefusalCode(read, buildHead({}, '192.0.2.2'))).toBe('SAGA_UNAUTHENTICATED')
    clock.nowMs += 1_000
    expect(readRefusalCode(read, buildHead())).toBe('SAGA_UNAUTHENTICATED')
  })

  it('An IPv6 network of 64 bits counts as one address', () => {
    const { read } = buildGate([])
    for (let host = 1; host <= 10; host += 1) read(buildHead({}, `2001:db8::${host}`))
    expect(readRefusalCode(read, buildHead({}, '2001:db8:0:0:1::1'))).toBe('SAGA_RATE_LIMITED')
    expect(readRefusalCode(read, buildHead({}, '2001:db8:0:1::1'))).toBe('SAGA_UNAUTHENTICATED')
  })

  it('Each key has its own rate, which fills again', () => {
    const other = buildKey(['read'])
    const { read, clock } = buildGate([one.stored, other.stored], { keyRate: new KeyRate(3) })
    const outcomes = Array.from({ length: 4 }, () => readRefusalCode(read, buildBearerHead(one.key)))
    expect(outcomes).toEqual(['passes', 'passes', 'passes', 'SAGA_RATE_LIMITED'])
    expect(readRefusalCode(read, buildBearerHead(other.key))).toBe('passes')
    clock.nowMs += 334
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('passes')
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('SAGA_RATE_LIMITED')
    clock.nowMs -= 10_000
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('SAGA_RATE_LIMITED')
  })

  it('Each address that needs no key has its own rate, which its keys do not share, and an IPv6 network of 64 bits counts as one', () => {
    const keylessNetworks = readNetworks(['10.1.0.0/16', 'fd00::/16'])
    if (keylessNetworks === undefined) throw new Error('no networks')
    const { gate } = buildGate([one.stored], { keyRate: new KeyRate(1), keylessNetworks })
    const submit = gate.buildGuard(['submit'], true)
    const from = (address: string) => readRefusalCode(submit, buildHead({}, address))
    expect([from('10.1.0.1'), from('10.1.0.1'), from('10.1.0.2')]).toEqual([
      'passes',
      'SAGA_RATE_LIMITED',
      'passes',
    ])
    expect([from('fd00::1'), from('fd00:0:0:0:7::2'), from('fd00:0:0:1::1')]).toEqual([
      'passes',
      'SAGA_RATE_LIMITED',
      'passes',
    ])
    expect(readRefusalCode(gate.buildGuard(['read'], false), buildBearerHead(one.key))).toBe('passes')
  })

  it('A used-up rate of a key stays used up when the keys file is read again', () => {
    const { read, keys } = buildGate([one.stored], { keyRate: new KeyRate(1) })
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('passes')
    keys.set(one.stored.id, { ...one.stored })
    expect(readRefusalCode(read, buildBearerHead(one.key))).toBe('SAGA_RATE_LIMITED')
  })
})

describe('a page in a browser', () => {
  const HERE = { host: 'orders.example:8470' }
  const PAGES: readonly (readonly [string, Headers, boolean])[] = [
    ['a program', {}, true],
    ['this server itself', { origin: 'http://orders.example:8470', 'sec-fetch-site': 'same-origin' }, true],
    ['this server behind TLS', { origin: 'https://orders.example:8470' }, true],
    ['an origin that the configuration names', { origin: 'https://shop.example' }, true],
    ['a port that the configuration names', { origin: 'http://dev.example:3000' }, true],
    ['another port of that', { origin: 'http://dev.example:3001' }, false],
    ['an address that a person typed', { 'sec-fetch-site': 'none' }, true],
    ['another origin', { origin: 'http://evil.example' }, false],
    ['another port', { origin: 'http://orders.example:3000' }, false],
    ['a page without an origin', { origin: 'null' }, false],
    ['two origins', { origin: 'http://orders.example:8470, http://evil.example' }, false],
    ['something that is not an origin', { origin: 'orders.example:8470' }, false],
    ['another site, without an origin', { 'sec-fetch-site': 'cross-site' }, false],
    ['another host of the site, without an origin', { 'sec-fetch-site': 'same-site' }, false],
  ]
  for (const [from, headers, passes] of PAGES) {
    it(`A request from ${from} ${passes ? 'may' : 'must not'} change something`, () => {
      const { gate } = buildGate([])
      const named = createGate({
        credentials: readBearerKey,
        hosts: buildNamedHostRule(['shop.example', 'orders.example', 'dev.example:3000']),
      })
      const guard = named.buildGuard(['submit'], true)
      expect(readRefusalCode(guard, buildHead({ ...HERE, ...headers }))).toBe(
        passes ? 'passes' : 'SAGA_ORIGIN_REFUSED',
      )
      // The key alone decides about a request that changes nothing.
      expect(readRefusalCode(named.buildGuard(['read'], false), buildHead({ ...HERE, ...headers }))).toBe(
        'passes',
      )
      if (!passes)
        expect(readRefusalCode(gate.buildGuard('open', true), buildHead({ ...HERE, ...headers }))).toBe(
          'SAGA_ORIGIN_REFUSED',
        )
    })
  }

  const BROWSER = {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'accept-language': 'en-US,en;q=0.5',
  }
  const LANGUAGE = { 'accept-language': 'de' }
  const READS: readonly (readonly [string, Headers, boolean])[] = [
    ['curl', { 'user-agent': 'curl/8.14.1', accept: '*/*' }, true],
    ['Go', { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' }, true],
    ['resty', { 'user-agent': 'go-resty/2.7.0 (https://github.com/go-resty/resty)' }, true],
    ['Python', { 'user-agent': 'python-requests/2.32.5', accept: '*/*', connection: 'keep-alive' }, true],
    ['Node', { 'user-agent': 'node', 'accept-language': '*', 'sec-fetch-mode': 'cors' }, true],
    ['nothing that says its name', {}, true],
    ['a program that names this server', { referer: 'http://orders.example:8470/docs' }, true],
    ['a program that names a page of the configuration', { referer: 'https://shop.example/a' }, true],
    ['a browser, of a page of this server', { ...BROWSER, 'sec-fetch-site': 'same-origin' }, true],
    [
      'a browser, of an own page without Sec-Fetch',
      { ...BROWSER, origin: 'http://orders.example:8470' },
      true,
    ],
    ['a browser without Sec-Fetch', BROWSER, false],
    ['a browser without a language', { 'user-agent': BROWSER['user-agent'] }, false],
    ['a browser under another name', LANGUAGE, false],
    ['a browser whose page set a language', { ...BROWSER, 'accept-language': '*' }, false],
    ['a browser, by its own page', { ...BROWSER, referer: 'http://orders.example:8470/docs' }, false],
    ['a page of another host', { referer: 'http://evil.example/page' }, false],
    ['a page of another port', { referer: 'http://orders.example:3000/' }, false],
    ['a page that is no URL', { referer: 'orders.example' }, false],
    ['a page without a host', { referer: 'about:blank' }, false],
    ['a link in a mail', { ...BROWSER, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, false],
    [
      'a link on a page of this server',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
      false,
    ],
    [
      'a frame of an older browser',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'nested-navigate' },
      false,
    ],
    [
      'an address bar that says only where to',
      { 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' },
      false,
    ],
    [
      'an image of a page of this server',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' },
      false,
    ],
    ['a prefetch', { 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch' }, false],
    ['a key that the user pressed', { 'sec-fetch-site': 'none', 'sec-fetch-user': '?1' }, false],
    [
      'a script of this server',
      { ...BROWSER, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      true,
    ],
  ]
  for (const [from, headers, passes] of READS) {
    it(`A request from ${from} ${passes ? 'may' : 'must not'} change something by GET or HEAD`, () => {
      const gate = createGate({
        credentials: readBearerKey,
        hosts: buildNamedHostRule(['shop.example', 'orders.example']),
      })
      const head = buildHead({ ...HERE, ...headers })
      for (const method of ['GET', 'HEAD']) {
        const outcome = readRefusalCode(gate.buildGuard('open', true), { ...head, method })
        expect([method, outcome]).toEqual([method, passes ? 'passes' : 'SAGA_ORIGIN_REFUSED'])
        // The key alone decides about a request that changes nothing.
        expect(readRefusalCode(gate.buildGuard(['read'], false), { ...head, method })).toBe('passes')
      }
      // Each browser sends its Origin with a POST, and the Origin decides.
      expect(readRefusalCode(gate.buildGuard('open', true), { ...head, method: 'POST' })).toBe('passes')
    })
  }

  const LOOPBACK: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, true],
    ['localhost', true],
    ['LOCALHOST:8470', true],
    ['localhost.:8470', true],
    ['app.localhost', true],
    ['127.0.0.1:8470', true],
    ['127.8.8.8', true],
    ['[::1]:8470', true],
    ['orders.example', true],
    ['evil.example', false],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['127.0.0.999', false],
    ['127.1', false],
    ['0x7f.0.0.1:8470', false],
    ['2130706433', false],
    ['127.0.0.01', false],
    ['evil.example@localhost', false],
    ['localhost/evil', false],
    ['192.0.2.1', false],
    ['0.0.0.0', false],
    ['[::]', false],
    ['', false],
  ]
  for (const [host, passes] of LOOPBACK) {
    it(`A request that was sent to ${host} ${passes ? 'reaches' : 'does not reach'} a server on loopback`, () => {
      const gate = createGate({
        credentials: readBearerKey,
        hosts: buildLoopbackHostRule(['orders.example']),
      })
      const head = buildHead(host === undefined ? {} : { host })
      // It asks twice, since a Host that was allowed is remembered.
      for (let time = 0; time < 2; time += 1) {
        expect(readRefusalCode(gate.buildGuard(['read'], false), head)).toBe(
          passes ? 'passes' : 'SAGA_HOST_REFUSED',
        )
      }
      expect(readRefusalCode(gate.buildGuard('open', false), head)).toBe('passes')
    })
  }

  it('A server beyond loopback answers under the names of the configuration and under any address', () => {
    const gate = createGate({ credentials: readBearerKey, hosts: buildNamedHostRule(['orders.example']) })
    const guard = gate.buildGuard(['read'], false)
    for (const host of ['orders.example:1', '10.0.0.7:8470', '[fd00::1]', 'localhost']) {
      expect([host, readRefusalCode(guard, buildHead({ host }))]).toEqual([host, 'passes'])
    }
    expect(readRefusalCode(guard, buildHead({ host: 'evil.example' }))).toBe('SAGA_HOST_REFUSED')
  })

  it('S41: A long name of other letters, in whichever header it comes, is refused without a look at it', () => {
    const name = Array.from({ length: 1_700 }, (_, n) =>
      encodeURIComponent(String.fromCharCode(0x4e00 + n)),
    ).join('')
    const gate = createGate({ credentials: readBearerKey, hosts: buildLoopbackHostRule([]) })
    const guard = gate.buildGuard('open', true)
    const from = performance.now()
    for (let time = 0; time < 100; time += 1) {
      expect(gate.allowsScope('read', buildHead({ host: name }))).toBe(false)
      expect(gate.allowsScope('read', buildHead({ ':authority': name }))).toBe(false)
      for (const headers of [{ origin: `http://${name}` }, { origin: 'http://a', host: name }])
        expect(readRefusalCode(guard, buildHead(headers))).toBe('SAGA_ORIGIN_REFUSED')
      const read = { ...buildHead({ referer: `http://${name}/` }), method: 'GET' }
      expect(readRefusalCode(guard, read)).toBe('SAGA_ORIGIN_REFUSED')
    }
    expect(performance.now() - from).toBeLessThan(1_000)
  })

  it('S16: A foreign name in the authority of HTTP/2 is refused like one in the Host header', () => {
    const gate = createGate({ credentials: readBearerKey, hosts: buildLoopbackHostRule([]) })
    const guard = gate.buildGuard(['read'], false)
    const heads = [
      { ':authority': 'localhost:8470' },
      { ':authority': 'evil.example' },
      { ':authority': 'localhost', host: 'evil.example' },
      { ':authority': 'evil.example', host: 'localhost' },
    ]
    const refused = 'SAGA_HOST_REFUSED'
    expect(heads.map((head) => readRefusalCode(guard, buildHead(head)))).toEqual([
      'passes',
      refused,
      refused,
      refused,
    ])
    expect(heads.map((head) => gate.allowsScope('read', buildHead(head)))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})
