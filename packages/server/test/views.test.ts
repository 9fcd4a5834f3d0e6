import { createGate, readBearerKey } from '@counterstep/access'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildRealServer } from './real-server.ts'
import { openScopeKeys } from './scope-keys.ts'
import { createScriptedEngine } from './scripted-engine.ts'

function post(app: ReturnType<typeof buildApp>, payload: unknown) {
  const headers = { 'content-type': 'application/json' }
  return app.inject({ method: 'POST', url: '/v1/views', headers, payload: JSON.stringify(payload) })
}

describe('the routes of saved views', () => {
  it('A view is saved, listed, replaced and removed', async () => {
    await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200 }))
    const { app } = server
    const saved = await post(app, {
      name: 'EU – waits',
      filter: 'tag=region:eu&retrying=true&range=24h&order=due',
    })
    expect(saved.statusCode).toBe(200)
    expect(saved.json()).toMatchObject({ name: 'EU – waits', by: { via: 'local' } })
    expect((await post(app, { name: 'EU – waits', filter: '' })).json()).toMatchObject({ filter: '' })
    const list = await app.inject({ url: '/v1/views' })
    expect(list.json().items).toHaveLength(1)
    const removed = await app.inject({ method: 'DELETE', url: `/v1/views/${saved.json().id}` })
    expect([removed.statusCode, removed.json()]).toEqual([200, { items: [] }])
    const again = await app.inject({ method: 'DELETE', url: `/v1/views/${saved.json().id}` })
    expect([again.statusCode, again.json().code]).toEqual([404, 'SAGA_UNKNOWN_VIEW'])
  })

  const long = 'n'.repeat(65)
  it('S38: A view names the key of who saved it', async () => {
    await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200 }))
    await using held = await openScopeKeys()
    const gate = createGate({ keys: held.ring, credentials: readBearerKey })
    const app = buildApp({ engine: server.engine, gate })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${held.keys.operate}` }
    const payload = JSON.stringify({ name: 'EU', filter: 'retrying=true' })
    const saved = await app.inject({ method: 'POST', url: '/v1/views', headers, payload })
    expect(saved.json().by).toEqual({ key: expect.objectContaining({ name: 'operate' }), via: 'api' })
  })

  for (const [what, body, code, path] of [
    ['no object', [], 'SAGA_INVALID', ''],
    ['another field', { name: 'a', filter: '', by: 'me' }, 'SAGA_UNKNOWN_FIELD', ''],
    ['no name', { filter: '' }, 'SAGA_VIEW_INVALID', '/name'],
    ['an empty name', { name: '', filter: '' }, 'SAGA_VIEW_INVALID', '/name'],
    ['a name that is too long', { name: long, filter: '' }, 'SAGA_VIEW_INVALID', '/name'],
    ['a name with a space at its end', { name: 'a ', filter: '' }, 'SAGA_VIEW_INVALID', '/name'],
    ['a name that turns its direction', { name: 'a\u202e', filter: '' }, 'SAGA_VIEW_INVALID', '/name'],
    ['no filter', { name: 'a' }, 'SAGA_VIEW_INVALID', '/filter'],
    [
      'a filter that is too long',
      { name: 'a', filter: `gid=${'g'.repeat(1_025)}` },
      'SAGA_VIEW_INVALID',
      '/filter',
    ],
    ['a filter that no list has', { name: 'a', filter: 'sideways=true' }, 'SAGA_QUERY_INVALID', 'sideways'],
    ['a status that is none', { name: 'a', filter: 'status=asleep' }, 'SAGA_QUERY_INVALID', 'status'],
    ['a span that is none', { name: 'a', filter: 'range=soon' }, 'SAGA_VIEW_INVALID', '/filter'],
    ['an instant', { name: 'a', filter: 'createdFrom=1' }, 'SAGA_VIEW_INVALID', '/filter'],
    ['a page', { name: 'a', filter: 'cursor=x' }, 'SAGA_VIEW_INVALID', '/filter'],
  ] as const)
    it(`A view with ${what} is refused with ${code}, and nothing is saved`, async () => {
      const engine = createScriptedEngine()
      const answer = await post(buildApp({ engine }), body)
      expect(answer.json()).toMatchObject({ code, path })
      expect(engine.calls).toEqual([])
    })
})
