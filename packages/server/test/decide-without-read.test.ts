/** A key that may decide about any transaction whose gid it knows is not shown what others have said about it. */
import { createGate, readBearerKey } from '@counterstep/access'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildRealServer } from './real-server.ts'
import { openScopeKeys } from './scope-keys.ts'

const NAMED = 'named-by-its-submitter'
const ANSWERED = 'answered-by-its-service'
const URLS = { confirm: 'http://bank.test/confirm', cancel: 'http://bank.test/cancel' }

it.each([
  ['tcc', 'submit', 'submit', false],
  ['message', 'submit', 'submit', false],
  ['tcc', 'abort', 'submit', false],
  ['tcc', 'branches', 'submit', false],
  ['tcc', 'submit-again', 'submit', false],
  ['tcc', 'abort', 'operate', true],
  ['tcc', 'abort', 'admin', true],
] as const)(
  'A key that may change a %s by %s, by the scope %s, is shown what others have said: %s',
  async (kind, command, scope, isShown) => {
    await using held = await openScopeKeys()
    await using server = await buildRealServer(() => ({
      result: 'success',
      statusCode: 200,
      excerpt: ANSWERED,
    }))
    const keyed = buildApp({
      engine: server.engine,
      gate: createGate({ keys: held.ring, credentials: readBearerKey }),
    })
    onTestFinished(() => keyed.close())
    const place = '/v1/transactions/a'
    const branches =
      kind === 'message'
        ? { branches: [{ action: URLS.confirm }], check: { url: URLS.cancel, afterMs: 3_600_000 } }
        : {}
    const given = { kind, gid: 'a', name: NAMED, ...branches }
    const made = await server.app.inject({ method: 'POST', url: '/v1/transactions', payload: given })
    expect(made.body).toContain(NAMED)
    if (kind === 'tcc')
      await server.app.inject({ method: 'POST', url: `${place}/branches`, payload: { id: '01', ...URLS } })
    const ask = (key: string, url: string, method: 'GET' | 'POST', payload?: object) =>
      keyed.inject({
        method,
        url,
        headers: { authorization: `Bearer ${key}`, prefer: 'wait=10' },
        ...(payload && { payload }),
      })
    const registration = command === 'branches' ? { id: '02', ...URLS } : undefined
    const changed =
      command === 'submit-again'
        ? await ask(held.keys[scope], '/v1/transactions', 'POST', given)
        : await ask(held.keys[scope], `${place}/${command}`, 'POST', registration)
    expect(changed.json()).toMatchObject({
      gid: 'a',
      kind,
      branches: expect.arrayContaining([expect.objectContaining({ id: '01' })]),
    })
    const said = [NAMED, ANSWERED, 'bank.test'].filter((text) => changed.body.includes(text))
    expect(said.length > 0).toBe(isShown)
    const looked = await ask(held.keys.read, place, 'GET')
    expect(looked.body).toContain(command === 'branches' || command === 'submit-again' ? NAMED : ANSWERED)
  },
)
