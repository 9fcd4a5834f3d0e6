import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  HOUR_MS,
  logIn,
  look,
  MINUTE_MS,
  OWN_PAGE,
  openSessionFixture,
  postLogin,
  type SessionFixture,
  type SessionHeaders,
  toSessionHeaders,
} from './session-fixture.ts'

const ENDED = '401 SAGA_UNAUTHENTICATED'

/** Lets a write that no answer waits for come to its end. */
async function letWritesEnd(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate()
}

/** Uses the session every half an hour, so that it never becomes idle. */
async function useFor(fixture: SessionFixture, ms: number, use: () => Promise<string>): Promise<string> {
  const endAt = fixture.clock.nowMs + ms
  let last = await use()
  while (fixture.clock.nowMs < endAt) {
    fixture.clock.nowMs = Math.min(endAt, fixture.clock.nowMs + HOUR_MS / 2)
    last = await use()
    await letWritesEnd()
  }
  return last
}

describe('S30: the life of a session', () => {
  it('A session is good on every node, also on one that opens after the login', async () => {
    await using fixture = await openSessionFixture()
    const [one, two] = [fixture.openNode(), fixture.openNode()]
    const session = await logIn(one.app, { key: fixture.key, person: 'kim' })
    expect(await look(one.app, session)).toBe('200')
    expect(await look(two.app, session)).toBe('200')
    expect(await look(fixture.openNode().app, session)).toBe('200')
  })

  it('A session ends after twelve hours, however much it is used', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const use = () => look(app, session)
    expect(await useFor(fixture, 12 * HOUR_MS - 1, use)).toBe('200')
    fixture.clock.nowMs += 1
    expect(await use()).toBe(ENDED)
  })

  it('A session ends after an hour without use, and not a millisecond sooner', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    fixture.clock.nowMs += HOUR_MS - 1
    expect(await look(app, session)).toBe('200')
    await letWritesEnd()
    fixture.clock.nowMs += HOUR_MS
    expect(await look(app, session)).toBe(ENDED)
  })

  it('A page that is left open lets its session end as idle, however often it asks by itself', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const askUnattended = async () => {
      const headers = { ...OWN_PAGE, ...session, 'counterstep-unattended': '1' }
      return String((await app.inject({ url: '/v1/transactions', headers })).statusCode)
    }
    const lastUseAt = fixture.clock.nowMs
    for (const minutes of [20, 40, 59]) {
      fixture.clock.nowMs = lastUseAt + minutes * MINUTE_MS
      expect(await askUnattended()).toBe('200')
      await letWritesEnd()
    }
    fixture.clock.nowMs = lastUseAt + HOUR_MS
    expect(await askUnattended()).toBe('401')
    expect(await look(app, session)).toBe(ENDED)
  })

  it('A session that is used on one node does not become idle on another', async () => {
    await using fixture = await openSessionFixture()
    const [one, two] = [fixture.openNode(), fixture.openNode()]
    const session = await logIn(one.app, { key: fixture.key })
    await useFor(fixture, 3 * HOUR_MS, () => look(one.app, session))
    expect(await look(two.app, session)).toBe('200')
  })

  it('A logout ends the session on this node at once, and on another one within a second', async () => {
    await using fixture = await openSessionFixture()
    const [one, two] = [fixture.openNode(), fixture.openNode()]
    const session = await logIn(one.app, { key: fixture.key })
    expect(await look(two.app, session)).toBe('200')
    const headers = { ...session, host: '127.0.0.1:8470' }
    const answer = await one.app.inject({ method: 'DELETE', url: '/v1/session', headers })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['set-cookie']).toMatch(
      /^counterstep=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    )
    expect(await look(one.app, session)).toBe(ENDED)
    fixture.clock.nowMs += 1_000
    expect(await look(two.app, session)).toBe(ENDED)
    expect(await fixture.store.readDocuments('sessions')).toEqual([])
  })

  it('A revoked key ends its sessions, and those of other keys go on', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const other = await fixture.makeKey('other', ['read'])
    const [ofFirst, ofOther] = [await logIn(app, { key: fixture.key }), await logIn(app, { key: other.key })]
    await fixture.revoke(fixture.keyId)
    expect(await look(app, ofFirst)).toBe(ENDED)
    expect(await look(app, ofOther)).toBe('200')
  })

  it('A session ends with its key, and says so from the beginning', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const expiresAt = fixture.clock.nowMs + 10 * MINUTE_MS
    const { key } = await fixture.makeKey('short', ['read'], expiresAt)
    const login = await postLogin(app, { key })
    expect(login.json()).toMatchObject({ via: 'console', scopes: ['read'], until: expiresAt })
    const session = await logIn(app, { key })
    fixture.clock.nowMs = expiresAt - 1
    expect(await look(app, session)).toBe('200')
    fixture.clock.nowMs = expiresAt
    expect(await look(app, session)).toBe(ENDED)
  })
})

describe('S41: the number of sessions', () => {
  it('The idlest session of a key gives way to its hundred and first', async () => {
    await using fixture = await openSessionFixture()
    const { app, sessions } = fixture.openNode()
    const { key } = await fixture.makeKey('other', ['read'])
    const spared = await logIn(app, { key })
    const others: SessionHeaders[] = []
    for (let count = 0; count < 100; count += 1) {
      fixture.clock.nowMs += 1
      const { halves } = await sessions.open(fixture.keyId, undefined, { isSecure: false, path: '/' })
      others.push(toSessionHeaders(`counterstep=${halves.cookie}`, halves.header))
    }
    const [first = {}, second = {}] = others
    fixture.clock.nowMs += 1
    expect(await look(app, first)).toBe('200')
    const latest = await logIn(app, { key: fixture.key })
    expect(await look(app, second)).toBe(ENDED)
    for (const each of [first, latest, spared]) expect(await look(app, each)).toBe('200')
  })

  it('Logins of one key that come at once find no more room than one after the other', async () => {
    await using fixture = await openSessionFixture()
    const { app, sessions } = fixture.openNode()
    const { key, id } = await fixture.makeKey('flood', ['submit'])
    const place = { isSecure: false, path: '/' }
    const operator = await logIn(app, { key: fixture.key })
    for (let round = 0; round < 30; round += 1) {
      fixture.clock.nowMs += 1
      await Promise.all(Array.from({ length: 5 }, () => sessions.open(id, undefined, place)))
    }
    const stored = await fixture.store.readDocuments('sessions')
    expect(stored.filter(({ text }) => JSON.parse(text).keyId === id)).toHaveLength(100)
    const refused = await Promise.allSettled(
      Array.from({ length: 9 }, () => sessions.open(id, undefined, place)),
    )
    expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(4)
    expect(await look(app, operator)).toBe('200')
    const answers = await Promise.all(Array.from({ length: 20 }, () => postLogin(app, { key })))
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(15)
    expect(await look(app, await logIn(app, { key: fixture.key }))).toBe('200')
  })

  it('The idlest session of the key with the most gives way to the thousand and first', async () => {
    await using fixture = await openSessionFixture()
    const { app, sessions } = fixture.openNode()
    const place = { isSecure: false, path: '/' }
    const oldest = await logIn(app, { key: fixture.key })
    for (let count = 1; count < 1_000; count += 1) {
      fixture.clock.nowMs += 1
      await sessions.open(`key${String(100 + Math.floor(count / 100)).padStart(9, 'a')}`, undefined, place)
    }
    const before = await fixture.store.readDocuments('sessions')
    expect(before).toHaveLength(1_000)
    fixture.clock.nowMs += 1
    const { key } = await fixture.makeKey('other', ['read'])
    const latest = await logIn(app, { key })
    const after = await fixture.store.readDocuments('sessions')
    expect(after).toHaveLength(1_000)
    const [gone] = before.filter((each) => !after.some((kept) => kept.key === each.key))
    expect(JSON.parse(gone?.text ?? '{}')).toMatchObject({ keyId: 'keyaaaaaa101' })
    expect(await look(app, oldest)).toBe('200')
    expect(await look(app, latest)).toBe('200')
  })

  it('A login removes the sessions that are over', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    await logIn(app, { key: fixture.key })
    await logIn(app, { key: fixture.key })
    fixture.clock.nowMs += HOUR_MS
    await logIn(app, { key: fixture.key })
    expect(await fixture.store.readDocuments('sessions')).toHaveLength(1)
  })

  it('Made-up ids have the store read four times a second at most', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const readsBefore = fixture.store.reads
    const made = Array.from({ length: 30 }, (_, i) =>
      toSessionHeaders(`counterstep=${String(i).padStart(43, 'x')}`, 'x'.repeat(43)),
    )
    await Promise.all(made.map((each) => look(app, each)))
    expect(fixture.store.reads - readsBefore).toBeLessThanOrEqual(2)
  })
})

describe('a session while the store is away', () => {
  it('A session that a node has checked stays good while the store is away', async () => {
    await using fixture = await openSessionFixture()
    const [one, two] = [fixture.openNode(), fixture.openNode()]
    const session = await logIn(one.app, { key: fixture.key })
    expect(await look(two.app, session)).toBe('200')
    fixture.store.isAway = true
    fixture.clock.nowMs += 20 * MINUTE_MS
    expect([await look(one.app, session), await look(two.app, session)]).toEqual(['200', '200'])
    fixture.clock.nowMs += HOUR_MS
    expect(await look(two.app, session)).toBe(ENDED)
  })

  it('A store that does not answer keeps a session that is known waiting for less than a second', async () => {
    await using fixture = await openSessionFixture()
    const { app } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    expect(await look(app, session)).toBe('200')
    fixture.store.readDocuments = () => new Promise(() => undefined)
    fixture.clock.nowMs += MINUTE_MS
    const startedAt = performance.now()
    expect(await look(app, session)).toBe('200')
    expect(await look(app, session)).toBe('200')
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })

  it('A session that the node does not know is answered as unavailable, and not as ended', async () => {
    await using fixture = await openSessionFixture()
    const session = await logIn(fixture.openNode().app, { key: fixture.key })
    const { app } = fixture.openNode()
    fixture.store.isAway = true
    expect(await look(app, session)).toBe('503 SAGA_STORE_UNAVAILABLE')
    fixture.store.isAway = false
    fixture.clock.nowMs += 1_000
    expect(await look(app, session)).toBe('200')
  })

  it('A logout while the store is away ends the session here at once, and elsewhere when the store is back', async () => {
    await using fixture = await openSessionFixture()
    const [one, two] = [fixture.openNode(), fixture.openNode()]
    const session = await logIn(one.app, { key: fixture.key })
    const stays = await logIn(one.app, { key: fixture.key })
    expect(await look(two.app, session)).toBe('200')
    fixture.store.isAway = true
    const headers = { ...session, host: '127.0.0.1:8470' }
    const answer = await one.app.inject({ method: 'DELETE', url: '/v1/session', headers })
    expect(answer.statusCode).toBe(503)
    expect(await look(one.app, session)).toBe(ENDED)
    fixture.store.isAway = false
    fixture.clock.nowMs += 1_000
    expect(await look(one.app, stays)).toBe('200')
    await letWritesEnd()
    fixture.clock.nowMs += 1_000
    expect(await look(two.app, session)).toBe(ENDED)
  })
})
