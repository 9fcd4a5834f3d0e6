/** A key that may decide about any transaction whose gid it knows is not shown what others have said about it. */
import { createGate, readBearerKey, type Scope } from '@counterstep/access'
import { expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildRealServer } from './real-server.ts'
import { openScopeKeys } from './scope-keys.ts'

const SAID = 'said-by-others'

it.each([
  ['submit', 'submit', 'succeeded'],
  ['abort', 'submit', 'failed'],
  ['abort', 'operate', 'failed'],
  ['abort', 'admin', 'failed'],
] as const)(
  'A key that may %s by the scope %s alone is shown no answer of a service',
  async (command, scope, status) => {
    await using held = await openScopeKeys()
    await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200, excerpt: SAID }))
    const { app, engine } = server
    const gate = createGate({ keys: held.ring, credentials: readBearerKey })
    const keyed = buildApp({ engine, gate })
    const post = (url: string, payload?: object) =>
      app.inject({ method: 'POST', url, ...(payload && { payload }) })
    const transactions = '/v1/transactions'
    const prepared = await post(transactions, { kind: 'tcc', gid: 'a', name: SAID, tags: { tenant: SAID } })
    expect(prepared.body).toContain(SAID)
    const urls = { confirm: `http://bank.test/${SAID}`, cancel: 'http://bank.test/cancel' }
    await post(`${transactions}/a/branches`, { id: '01', ...urls })
    const ask = (key: Scope, url: string, method: 'GET' | 'POST') =>
      keyed.inject({
        method,
        url,
        headers: { authorization: `Bearer ${held.keys[key]}`, prefer: 'wait=10' },
      })
    const decided = await ask(scope, `${transactions}/a/${command}`, 'POST')
    expect(decided.json()).toMatchObject({ gid: 'a', status, branches: [{ id: '01' }] })
    expect(decided.body).not.toContain(SAID)
    expect(decided.body).not.toContain('bank.test')
    expect((await ask('read', `${transactions}/a`, 'GET')).body).toContain(SAID)
    await keyed.close()
  },
)
