import { describe, expect, it } from 'vitest'
import { buildApp } from '../src/build-app.ts'
import type { Operation } from '../src/openapi/operation.ts'
import { OPERATIONS } from '../src/operations.ts'
import { createScriptedEngine } from './scripted-engine.ts'

/** These take the caller's turn in the engine, under this verb: they cost more the larger a transaction or a text is. */
const IN_TURN: Readonly<Record<string, string>> = {
  'get /v1/transactions': 'list',
  'get /v1/transactions/{gid}': 'show',
  'post /v1/transactions/{gid}/preview': 'preview',
  'get /v1/transactions/{gid}/request': 'showRequest',
  'get /v1/bulk': 'bulk.list',
  'get /v1/bulk/{id}': 'bulk.show',
  'get /v1/panels/{id}': 'waitForTurn',
  'get /v1/views': 'views.list',
  'get /openapi.json': 'waitForTurn',
  'get /docs': 'waitForTurn',
}
/** All callers that ask for one of these within half a second get one view, whose text is written once. */
const SHARED = ['get /v1/overview', 'get /v1/services', 'get /v1/names', 'get /v1/problems', 'get /metrics']
/** These show what a watcher looks at, whose looks take turns, and each caller has a share of the streams. */
const STREAMED = ['get /v1/live']
/** These answer some short words from memory. */
const SHORT = ['get /', 'get /v1/session', 'get /v1/panels', 'get /v1/dev']

function nameOperation({ method, path }: Operation): string {
  return `${method} ${path}`
}

function isLook({ method, path, access }: Operation): boolean {
  return (method === 'get' && access !== 'open') || path.endsWith('/preview')
}

describe('S42: every look is bounded', () => {
  it('S42: A route that lets callers look says what bounds it', () => {
    const looks = OPERATIONS.filter(isLook).map(nameOperation)
    expect(looks.sort()).toEqual([...Object.keys(IN_TURN), ...SHARED, ...STREAMED, ...SHORT].sort())
  })

  it.each(Object.entries(IN_TURN))(
    'S42: %s is looked at in the turn of its caller',
    async (operation, verb) => {
      const engine = createScriptedEngine()
      const panel = { id: 'topics', title: 'Topics', access: ['read'] as const }
      const app = buildApp({
        engine,
        panels: [{ ...panel, read: async () => ({ columns: [], rows: [] }) }],
      })
      const [method = '', path = ''] = operation.split(' ')
      const id = path.includes('panels') ? 'topics' : 'aklmbcdefghijnop'
      const url = path.replace('{gid}', 'order-1').replace('{id}', id)
      const payload = method === 'post' ? { payload: { command: 'abort' } } : {}
      const answer = await app.inject({ method: method === 'post' ? 'POST' : 'GET', url, ...payload })
      expect(answer.statusCode).toBe(200)
      const [call] = engine.calls.filter((each) => each.verb === verb)
      expect(call?.arguments.at(-1)).toBe('127.0.0.1')
      await app.close()
    },
  )
})
