import { createHash } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { createGate, KeyQuota, KeyRate, readBearerKey } from '@counterstep/access'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../../src/index.ts'
import { createScriptedEngine } from '../scripted-engine.ts'
import {
  type Headers,
  HOUR_MS,
  logIn,
  look,
  OWN_PAGE,
  openSessionFixture,
  postLogin,
  type SessionHeaders,
  START_MS,
  toSessionHeaders,
} from './session-fixture.ts'

const NONE = '401 SAGA_UNAUTHENTICATED'
const FOREIGN = '403 SAGA_ORIGIN_REFUSED'
/** A stream of changes is one of them: a page reads it by a fetch, which sends the header. */
const READS = ['/v1/live?topics=overview', '/v1/overview', '/v1/session', '/metrics']
const SECURE_PAGE: Headers = {
  host: 'cs.example',
  origin: 'https://cs.example',
  'sec-fetch-site': 'same-origin',
}

/** Reads the half of a session that stands in its cookie. */
function readId({ cookie }: SessionHeaders): string {
  return cookie.slice('counterstep='.length)
}

function interchange(own: SessionHeaders): Headers {
  return { ...own, ...toSessionHeaders(`counterstep=${own['counterstep-console']}`, readId(own)) }
}

function sayTwice({ 'counterstep-console': secret }: SessionHeaders): string {
  return `${secret}, ${secret}`
}

describe('S30: a login', () => {
  it('A login answers who the caller is, and sets a cookie that no script reads and no other site sends', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const answer = await postLogin(app, { key: fixture.key, person: 'Kim Ø' })
    expect(answer.statusCode).toBe(200)
    const until = START_MS + 12 * HOUR_MS
    expect(answer.json()).toEqual({
      via: 'console',
      key: { id: fixture.keyId, name: 'ops' },
      person: 'Kim Ø',
      scopes: ['read', 'operate'],
      until,
      secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })
    expect(String(answer.headers['set-cookie'])).not.toContain(answer.json().secret)
    expect(answer.headers['set-cookie']).toMatch(
      /^counterstep=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('The cookie is Secure, and named so, where the page of the browser is on https', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode({ hosts: { allows: () => true, names: () => false } })
    const answer = await postLogin(app, { key: fixture.key }, SECURE_PAGE)
    expect(answer.headers['set-cookie']).toMatch(
      /^__Secure-counterstep=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    )
    const session = await logIn(app, { key: fixture.key }, SECURE_PAGE)
    expect(await look(app, session, SECURE_PAGE)).toBe('200')
  })

  it('The cookie is for the path under which the browser sees the API', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    for (const [path, expected] of [
      ['/', 'Path=/;'],
      ['/tools/saga/', 'Path=/tools/saga;'],
      ['/tools/saga', 'Path=/tools/saga;'],
    ])
      expect(String((await postLogin(app, { key: fixture.key, path })).headers['set-cookie'])).toContain(
        expected,
      )
  })

  const BAD: readonly (readonly [string, unknown, number])[] = [
    ['no JSON', '{', 400],
    ['no key', {}, 422],
    ['a key that is no text', { key: 7 }, 422],
    ['a person with a line break', { person: 'a\nb' }, 422],
    ['a person of 65 characters', { person: 'a'.repeat(65) }, 422],
    ['an empty person', { person: ' ' }, 422],
    ['a path with an attribute', { path: '/a; Domain=example' }, 422],
    ['a path with a line break', { path: '/a\r\nset-cookie: b' }, 422],
    ['a path that is no path', { path: 'a' }, 422],
    ['an unknown field', { password: 'x' }, 422],
    ['more than 1 KiB', { person: 'a'.repeat(1_100) }, 400],
  ]
  for (const [what, body, status] of BAD) {
    it(`A login with ${what} is refused, opens no session and quotes nothing`, async () => {
      await using fixture = await openSessionFixture()
      const { app, log } = fixture.openNode()
      const whole = typeof body === 'object' && what !== 'no key' ? { key: fixture.key, ...body } : body
      const answer = await postLogin(app, whole)
      expect(answer.statusCode).toBe(status)
      expect(answer.headers['set-cookie']).toBeUndefined()
      expect(await fixture.store.readDocuments('sessions')).toEqual([])
      expect(answer.body + log.join('')).not.toContain(fixture.key)
    })
  }

  it('S41: A login whose body does not say its length is refused before it is read', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    await app.listen({ port: 0, host: '127.0.0.1' })
    const port = (app.server.address() as AddressInfo).port
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const asked = request({ port, method: 'POST', path: '/v1/session', headers }, resolve)
      asked.on('error', reject)
      asked.end(JSON.stringify({ key: fixture.key }))
    })
    answer.resume()
    expect([answer.statusCode, answer.headers.connection]).toEqual([400, 'close'])
    expect(await fixture.store.readDocuments('sessions')).toEqual([])
  })

  it('A login with a bad key is refused, and the eleventh of an address in a second with 429', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const wrong = { key: `${fixture.key.slice(0, -2)}__` }
    for (let count = 0; count < 10; count += 1) {
      const answer = await postLogin(app, wrong)
      expect([answer.statusCode, answer.json().code]).toEqual([401, 'SAGA_UNAUTHENTICATED'])
    }
    expect((await postLogin(app, wrong)).json().code).toBe('SAGA_RATE_LIMITED')
    // A good key from there may be another person behind the same proxy.
    expect((await postLogin(app, { key: fixture.key })).statusCode).toBe(200)
  })

  it('A page of another origin logs nobody in', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await postLogin(app, { key: fixture.key }, { ...OWN_PAGE, ...headers })).json().code).toBe(
        'SAGA_ORIGIN_REFUSED',
      )
    const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }
    expect((await postLogin(app, { key: fixture.key }, rebound)).json().code).toBe('SAGA_HOST_REFUSED')
  })

  it('A server without keys has no login, and says that every caller may do everything', async () => {
    const app = buildApp({ engine: createScriptedEngine(), console: { directory: () => '/nowhere' } })
    const local = { via: 'local', scopes: ['submit', 'read', 'payloads', 'signal', 'operate', 'admin'] }
    expect((await app.inject({ url: '/v1/session' })).json()).toEqual(local)
    const login = await postLogin(app, { key: 'anything' })
    expect([login.json(), login.headers['set-cookie']]).toEqual([local, undefined])
  })
})

describe('S30: what a session authorises', () => {
  it('A session has the scopes of its key and no other', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const headers = { ...OWN_PAGE, ...(await logIn(app, { key: fixture.key })) }
    const shown = (await app.inject({ url: '/v1/session', headers })).json()
    expect(shown).toMatchObject({ via: 'console' })
    expect(shown).not.toHaveProperty('secret')
    const stop = await app.inject({ method: 'POST', url: '/v1/transactions/a/stop', headers })
    expect([stop.statusCode, stop.json().code]).toEqual([403, 'SAGA_FORBIDDEN'])
  })

  it('No cache keeps what a session has read', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const headers = { ...OWN_PAGE, ...(await logIn(app, { key: fixture.key })) }
    for (const url of ['/v1/transactions', '/v1/transactions/a', '/v1/overview', '/v1/problems', '/metrics'])
      expect([url, (await app.inject({ url, headers })).headers['cache-control']]).toEqual([url, 'no-store'])
  })

  /** Each makes a request of what the page of the session would send. */
  const REFUSED: readonly (readonly [string, (own: SessionHeaders) => Headers, string])[] = [
    ['without the header of the console', ({ cookie }) => ({ ...OWN_PAGE, cookie }), NONE],
    ['without the cookie', ({ cookie: _, ...own }) => own, NONE],
    ['with a constant in the header', (own) => ({ ...own, 'counterstep-console': '1' }), NONE],
    ['with a secret that is made up', (own) => ({ ...own, 'counterstep-console': 'x'.repeat(43) }), NONE],
    ['with the value of the cookie in the header', (own) => toSessionHeaders(own.cookie, readId(own)), NONE],
    ['with both halves interchanged', interchange, NONE],
    ['with the header twice', (own) => ({ ...own, 'counterstep-console': sayTwice(own) }), NONE],
    [
      'with a longer header',
      (own) => ({ ...own, 'counterstep-console': `${own['counterstep-console']}x` }),
      NONE,
    ],
    ['from a page of another origin', (own) => ({ ...own, origin: 'http://evil.example' }), FOREIGN],
    ['from another port of this host', (own) => ({ ...own, origin: 'http://127.0.0.1:9999' }), FOREIGN],
    ['from no origin', (own) => ({ ...own, origin: 'null' }), FOREIGN],
    ['by a fetch across sites', (own) => ({ ...own, 'sec-fetch-site': 'cross-site' }), FOREIGN],
    ['by a fetch of a sibling host', (own) => ({ ...own, 'sec-fetch-site': 'same-site' }), FOREIGN],
    ['by an address bar', (own) => ({ ...own, 'sec-fetch-site': 'none' }), FOREIGN],
    ['beside a bad key', (own) => ({ ...own, authorization: 'Bearer cs_unknown' }), NONE],
    ['beside another scheme', (own) => ({ ...own, authorization: 'Basic eDp5' }), NONE],
    ['under a foreign Host', (own) => ({ ...own, host: 'evil.example' }), '421 SAGA_HOST_REFUSED'],
  ]
  for (const [what, change, expected] of REFUSED) {
    it(`A session is not taken ${what}`, async () => {
      await using fixture = await openSessionFixture()
      const { app } = fixture.openNode()
      const session = await logIn(app, { key: fixture.key })
      expect(await look(app, {}, change({ ...OWN_PAGE, ...session }))).toBe(expected)
      expect(await look(app, session)).toBe('200')
    })
  }

  it('A session is not taken with the secret of another one of the same key', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const [first, second] = [await logIn(app, { key: fixture.key }), await logIn(app, { key: fixture.key })]
    for (const [{ cookie }, { 'counterstep-console': secret }] of [
      [first, second],
      [second, first],
    ] as const)
      expect(await look(app, toSessionHeaders(cookie, secret))).toBe(NONE)
    expect([await look(app, first), await look(app, second)]).toEqual(['200', '200'])
  })

  it('A session is taken from a browser that tells neither its page nor its site', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    expect(await look(app, session, { host: '127.0.0.1:8470', 'user-agent': 'Mozilla/5.0' })).toBe('200')
  })

  it('No route takes the cookie of a session alone, whether it reads or changes something', async () => {
    await using fixture = await openSessionFixture(['submit', 'read', 'signal', 'operate', 'admin'])
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const { cookie } = session
    for (const url of ['', '/a', '/a/request'].map((path) => `/v1/transactions${path}`).concat(READS)) {
      const answer = await app.inject({ url, headers: { ...OWN_PAGE, cookie } })
      expect([url, answer.statusCode]).toEqual([url, 401])
    }
    fixture.clock.nowMs += 1_000
    const posts = ['', '/a/abort', '/a/retry', '/a/stop', '/a/submit', '/a/signals/n', '/a/branches']
    for (const path of posts) {
      const headers = { ...OWN_PAGE, cookie, 'content-type': 'application/json' }
      const answer = await app.inject({
        method: 'POST',
        url: `/v1/transactions${path}`,
        headers,
        payload: '{}',
      })
      expect([path, answer.statusCode]).toEqual([path, 401])
      expect(answer.json().detail).toContain('the header counterstep-console')
    }
    const logout = await app.inject({
      method: 'DELETE',
      url: '/v1/session',
      headers: { ...OWN_PAGE, cookie },
    })
    expect(logout.statusCode).toBe(401)
    expect(await look(app, session)).toBe('200')
  })

  it('Only one cookie of the exact name is taken', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const [{ cookie }, id] = [session, readId(session)]
    const { cookie: theirs } = await logIn(app, { key: fixture.key })
    const bad = [
      `${cookie}; ${theirs}`,
      `${theirs}; a=b; ${cookie}`,
      `${cookie}; counterstep=x`,
      `counterstep="${id}"`,
      `Counterstep=${id}`,
      `COUNTERSTEP=${id}`,
      `counterstep =${id}`,
      `xcounterstep=${id}`,
      `counterstep=${id.toLowerCase()}x`,
      `counterstep=${id}x`,
      `counterstep=${id.slice(1)}`,
      'counterstep=',
      // It is the name that https has, so the other one beside it does not count.
      `__Secure-counterstep=x; ${cookie}`,
      `__secure-counterstep=${id}`,
    ]
    for (const each of bad) {
      // Each is refused in a second of its own, since the rate of an address is bounded.
      fixture.clock.nowMs += 1_000
      expect([each, await look(app, { ...session, cookie: each })]).toEqual([each, NONE])
    }
    for (const each of [`a=b; ${cookie}; c=d`, `a=counterstep=x;${cookie}`])
      expect([each, await look(app, { ...session, cookie: each })]).toEqual([each, '200'])
  })

  it('A session means nothing to a gate with other keys, or without sessions', async () => {
    await using fixture = await openSessionFixture()
    const session = await logIn(fixture.openNode().app, { key: fixture.key })
    const others = fixture.openNode({ keys: { find: () => undefined } })
    expect(await look(others.app, session)).toBe(NONE)
    const gate = createGate({ keys: { find: () => undefined }, credentials: readBearerKey })
    expect(await look(buildApp({ engine: createScriptedEngine(), gate }), session)).toBe(NONE)
  })

  it('S17: The rate and the quota of a key count for its sessions', async () => {
    await using fixture = await openSessionFixture(['submit', 'read'])
    const limited = fixture.openNode({ keyRate: new KeyRate(3) })
    const session = await logIn(limited.app, { key: fixture.key })
    expect(await look(limited.app, session)).toBe('200')
    expect(await look(limited.app, { authorization: `Bearer ${fixture.key}` })).toBe('200')
    expect(await look(limited.app, session)).toBe('429 SAGA_RATE_LIMITED')
    fixture.clock.nowMs += 5_000
    const { app } = fixture.openNode({ keyQuota: new KeyQuota({ submitsMax: 1 }) })
    const submit = () =>
      app.inject({
        method: 'POST',
        url: '/v1/transactions',
        headers: { ...OWN_PAGE, ...session, 'content-type': 'application/json' },
        payload: '{}',
      })
    expect((await submit()).statusCode).toBe(202)
    expect((await submit()).json().code).toBe('SAGA_QUOTA_EXCEEDED')
  })

  it('Readiness shows the store to a session with the scope read', async () => {
    await using fixture = await openSessionFixture(['read'])
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const ask = async (headers: Headers) =>
      (await app.inject({ url: '/health/ready', headers: { ...OWN_PAGE, ...headers } })).json()
    expect(await ask(session)).toHaveProperty('store')
    expect(await ask({ cookie: session.cookie })).not.toHaveProperty('store')
    expect(await ask({ ...session, origin: 'http://evil.example' })).not.toHaveProperty('store')
  })
})

describe('S28: what is kept of a login', () => {
  it('Neither a key nor a session is in the store, the log or an answer, and the log tells who came and went', async () => {
    await using fixture = await openSessionFixture()
    const { app, log } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key, person: 'kim' })
    const { cookie, 'counterstep-console': secret } = session
    await look(app, session)
    await look(app, { ...session, cookie: `${cookie}; ${cookie}` })
    const whileOpen = JSON.stringify(await fixture.store.readDocuments('sessions'))
    const headers = { ...OWN_PAGE, ...session }
    await app.inject({ method: 'DELETE', url: '/v1/session', headers })
    await look(app, session)
    const written = log.join('')
    expect(whileOpen).toContain(fixture.keyId)
    for (const each of [fixture.key, readId(session), secret]) expect(written + whileOpen).not.toContain(each)
    const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => /^log(in|out)$/.test(msg))
    expect(lines).toMatchObject([
      { msg: 'login', key: fixture.keyId, keyName: 'ops', person: 'kim' },
      { msg: 'logout', key: fixture.keyId, keyName: 'ops', person: 'kim' },
    ])
  })

  it('The store has a session under the hash of both its halves', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const halves = `${readId(session)}.${session['counterstep-console']}`
    const [document] = await fixture.store.readDocuments('sessions')
    expect(document?.key).toBe(createHash('sha256').update(halves).digest('hex'))
    // The hash itself opens nothing.
    expect(await look(app, { ...session, cookie: `counterstep=${document?.key}` })).toBe(NONE)
  })
})

describe('S41: made-up sessions', () => {
  const FAKE = [
    'Host: 127.0.0.1',
    `Cookie: counterstep=${'a'.repeat(43)}`,
    `counterstep-console: ${'b'.repeat(43)}`,
  ]
  const ASK = `GET /v1/overview HTTP/1.1\r\n${FAKE.join('\r\n')}\r\n\r\n`

  /** Listens with sessions of which each is looked for until its function in `asked` is called, and then is not found. */
  async function listenWithSlowSessions(fixture: Awaited<ReturnType<typeof openSessionFixture>>) {
    const { app, sessions } = fixture.openNode()
    const asked: (() => void)[] = []
    sessions.find = () =>
      new Promise((resolve) => {
        asked.push(() => resolve(undefined))
      })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    return { app, port, asked }
  }

  it('A connection waits for one of them at a time, and ends when it is refused', async () => {
    await using fixture = await openSessionFixture()
    const { app, port, asked } = await listenWithSlowSessions(fixture)
    let parsed = 0
    app.server.on('request', () => {
      parsed += 1
    })
    const received = Array.from({ length: 10 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.write(ASK.repeat(4))
      return text(socket)
    })
    await expect.poll(() => parsed).toBe(40)
    // Several turns of the event loop begin nothing more.
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    expect(asked).toHaveLength(10)
    for (const answer of asked) answer()
    for (const each of await Promise.all(received))
      expect(each.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401'])
    expect(asked).toHaveLength(10)
  })

  it('Nothing more is read of a connection while one is looked for, and the chunks that it may have brought are bounded', async () => {
    await using fixture = await openSessionFixture()
    const { app, port, asked } = await listenWithSlowSessions(fixture)
    const sockets: Socket[] = []
    using _ = {
      [Symbol.dispose]() {
        for (const each of sockets) each.destroy()
      },
    }
    const own: Socket[] = []
    app.server.on('connection', (socket: Socket) => own.push(socket))
    const head = `POST /v1/transactions HTTP/1.1\r\n${FAKE.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n`
    let closed = 0
    const send = async () => {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        closed += 1
      })
      socket.write(head)
      const before = asked.length
      await expect.poll(() => asked.length).toBe(before + 1)
      return { socket, received: text(socket).catch(() => '') }
    }
    const { socket, received } = await send()
    socket.write('1\r\nx\r\n'.repeat(50_000))
    for (let turn = 0; turn < 200; turn += 1) await setImmediate()
    expect(own[0]?.bytesRead).toBe(head.length)
    for (let other = 0; other < 10; other += 1) await send()
    await expect.poll(() => closed).toBeGreaterThan(0)
    expect(closed).toBeLessThan(5)
    for (const answer of asked) answer()
    expect(await received).toMatch(/^(HTTP\/1.1 401|$)/)
    await expect.poll(() => closed).toBe(11)
  })

  it('A connection whose session is found is read on, with any body', async () => {
    await using fixture = await openSessionFixture(['submit', 'read'])
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const received = text(socket)
    const fields = Object.entries({ ...session, 'content-type': 'application/json' })
    const head = [
      'POST /v1/transactions HTTP/1.1',
      'Host: 127.0.0.1',
      ...fields.map((pair) => pair.join(': ')),
    ]
    const body = '{}'.padEnd(200_000)
    socket.write(`${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`)
    socket.write(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`)
    for (let sent = 0; sent < body.length; sent += 50_000)
      socket.write(`${(50_000).toString(16)}\r\n${body.slice(sent, sent + 50_000)}\r\n`)
    socket.write('0\r\n\r\n')
    socket.write(`${[...head, 'Connection: close', 'Content-Length: 2'].join('\r\n')}\r\n\r\n{}`)
    expect((await received).match(/HTTP\/1.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 202'))
  })
})
