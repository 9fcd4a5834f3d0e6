import { createGate, type Gate, type RequestHead, readBearerKey } from '@counterstep/access'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../../src/index.ts'
import { createScriptedEngine } from '../scripted-engine.ts'
import {
  type Headers,
  logIn,
  look,
  OWN_PAGE,
  openSessionFixture,
  type SessionHeaders,
} from './session-fixture.ts'

/** Each request is refused by the real gate. */
const REFUSED: Readonly<Record<string, (own: SessionHeaders) => Headers>> = {
  'by its cookie alone': ({ cookie }) => ({ ...OWN_PAGE, cookie }),
  'by its cookie and the constant of older versions': (own) => ({ ...own, 'counterstep-console': '1' }),
  'from a foreign page': (own) => ({ ...own, origin: 'http://evil.example' }),
  'by a fetch across sites': (own) => ({ ...own, 'sec-fetch-site': 'cross-site' }),
}

/** Shows the guard other headers than those that came, as a gate that is deaf to some would see them. */
function changeHeaders(gate: Gate, change: (headers: Headers) => Headers): Gate {
  const seen = new WeakMap<RequestHead, RequestHead>()
  const see = (head: RequestHead): RequestHead => {
    const known = seen.get(head)
    if (known !== undefined) return known
    const changed = { ...head, socket: head.socket, headers: change(head.headers as Headers) }
    seen.set(head, changed)
    return changed
  }
  return {
    ...gate,
    ...(gate.findSession && { findSession: (head) => gate.findSession?.(see(head)) }),
    buildGuard: (access, changesState, stores) => {
      const guard = gate.buildGuard(access, changesState, stores)
      return (head) => guard(see(head))
    },
  }
}

const MUTANTS: Readonly<Record<string, (headers: Headers, own: SessionHeaders) => Headers>> = {
  'by its cookie alone': (headers, own) => ({ ...headers, ...pickSecret(own) }),
  'by its cookie and the constant of older versions': (headers, own) => ({ ...headers, ...pickSecret(own) }),
  'from a foreign page': ({ origin: _, ...headers }) => headers,
  'by a fetch across sites': ({ 'sec-fetch-site': _, ...headers }) => headers,
}

function pickSecret({ 'counterstep-console': secret }: SessionHeaders): Headers {
  return { 'counterstep-console': secret }
}

describe('S30: the check of a session', () => {
  for (const [what, change] of Object.entries(REFUSED)) {
    it(`S30: A gate that takes a session ${what} is found out (mutant)`, async () => {
      await using fixture = await openSessionFixture()
      const { app, sessions } = fixture.openNode()
      const session = await logIn(app, { key: fixture.key })
      const headers = change({ ...OWN_PAGE, ...session })
      expect(await look(app, headers)).not.toBe('200')
      const gate = createGate({
        keys: fixture.keys,
        credentials: readBearerKey,
        sessions,
        nowMs: () => fixture.clock.nowMs,
      })
      const mutate = MUTANTS[what] ?? ((same) => same)
      const deaf = buildApp({
        engine: createScriptedEngine(),
        gate: changeHeaders(gate, (its) => mutate(its, session)),
      })
      expect(await look(deaf, headers)).toBe('200')
    })
  }

  it('S30: A gate that asks no key ring would let a revoked key go on (mutant)', async () => {
    await using fixture = await openSessionFixture()
    const { app, sessions } = fixture.openNode()
    const session = await logIn(app, { key: fixture.key })
    const remembered = fixture.keys.find(fixture.keyId)
    await fixture.revoke(fixture.keyId)
    expect(await look(app, session)).toBe('401 SAGA_UNAUTHENTICATED')
    const gate = createGate({
      keys: { find: () => remembered },
      credentials: readBearerKey,
      sessions,
      nowMs: () => fixture.clock.nowMs,
    })
    expect(await look(buildApp({ engine: createScriptedEngine(), gate }), session)).toBe('200')
  })
})
