import type { ListQuery } from '@counterstep/core'
import { CounterstepError, type Gid, isGid, type TransactionSummary } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCursor, writeCursor } from '../src/http/list-cursor.ts'
import { buildApp } from '../src/index.ts'
import { pageExample, problemsExample } from '../src/openapi/examples.ts'
import { createScriptedEngine } from './scripted-engine.ts'

function toGid(text: string): Gid {
  if (!isGid(text)) throw new Error(`not a gid: ${text}`)
  return text
}

const cursor = writeCursor({ at: 5, gid: toGid('a.b/c') })

describe('GET /v1/transactions', () => {
  const rows: readonly (readonly [string, ListQuery & { readonly gid?: Gid }])[] = [
    ['', { limit: 50 }],
    ['?kind=tcc', { limit: 50, kind: 'tcc' }],
    ['?kind=message&status=prepared', { limit: 50, kind: 'message', status: ['prepared'] }],
    ['?limit=200', { limit: 200 }],
    ['?status=submitted', { limit: 50, status: ['submitted'] }],
    ['?status=submitted,aborting', { limit: 50, status: ['submitted', 'aborting'] }],
    ['?status=aborting&status=failed,stopped', { limit: 50, status: ['aborting', 'failed', 'stopped'] }],
    [
      '?kind=saga&retrying=true&attention=false',
      { limit: 50, kind: 'saga', retrying: true, attention: false },
    ],
    ['?createdFrom=0&createdTo=9007199254740991', { limit: 50, createdFrom: 0, createdTo: 9007199254740991 }],
    ['?gid=order-4711', { limit: 50, gid: toGid('order-4711') }],
    ['?gid=order-*', { limit: 50, gidPrefix: 'order-' }],
    ['?gid=a%2A%2A', { limit: 50, gidPrefix: 'a*' }],
    ['?gid=.*', { limit: 50, gidPrefix: '.' }],
    ['?name=transfer/eu', { limit: 50, name: 'transfer/eu' }],
    ['?tag=region:eu', { limit: 50, tags: { region: 'eu' } }],
    ['?tag=region:eu&tag=url:a:b', { limit: 50, tags: { region: 'eu', url: 'a:b' } }],
    ['?tag=constructor:x', { limit: 50, tags: { constructor: 'x' } }],
    ['?problem=bank-a%20compensate%20500', { limit: 50, problem: 'bank-a compensate 500' }],
    ['?problem=%E2%80%93%20by-hand', { limit: 50, problem: '– by-hand' }],
    ['?paused=true', { limit: 50, marks: ['paused'] }],
    ['?edited=true&byHand=true', { limit: 50, marks: ['by-hand', 'edited'] }],
    ['?order=created', { limit: 50, order: 'created' }],
    ['?order=due', { limit: 50, order: 'due' }],
    ['?order=-due', { limit: 50, order: 'due-last' }],
    [`?cursor=${cursor}`, { limit: 50, cursor: { at: 5, gid: toGid('a.b/c') } }],
  ]
  for (const [query, expected] of rows) {
    it(`The list understands the query "${query}"`, async () => {
      const engine = createScriptedEngine()
      const answer = await buildApp({ engine }).inject({ url: `/v1/transactions${query}` })
      expect(answer.statusCode).toBe(200)
      expect(engine.calls[0]?.arguments).toEqual([expected, '127.0.0.1'])
    })
  }

  const bad = [
    'status=done',
    'status=',
    'status=submitted,',
    'kind=other',
    'kind=saga&kind=tcc',
    'retrying=yes',
    'attention=1',
    'createdFrom=-1',
    'createdFrom=1e3',
    'createdTo=9007199254740993',
    'limit=0',
    'limit=201',
    'limit=',
    'cursor=',
    'cursor=x',
    `cursor=${cursor}%3D`,
    'gid=',
    'gid=*',
    'gid=a%20b',
    'gid=a%20*',
    'gid=a&gid=b',
    `gid=${'x'.repeat(129)}*`,
    'name=',
    'name=a%20b',
    `name=${'x'.repeat(65)}`,
    'tag=',
    'tag=region',
    'tag=:eu',
    'tag=region:',
    'tag=Region:eu',
    'tag=region:a%20b',
    'tag=region:eu&tag=region:us',
    `tag=${Array.from({ length: 9 }, (_, i) => `k${i}:v`).join('&tag=')}`,
    'problem=',
    `problem=${'x'.repeat(256)}`,
    'paused=false',
    'byHand=1',
    'edited=',
    'order=',
    'order=dueAt',
    'order=toString',
    'colour=red',
    '__proto__=1',
  ]
  for (const query of bad) {
    it(`The list refuses the query "${query}" and names the filter`, async () => {
      const engine = createScriptedEngine()
      const answer = await buildApp({ engine }).inject({ url: `/v1/transactions?${query}` })
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ code: 'SAGA_QUERY_INVALID', path: query.split('=')[0] })
      expect(engine.calls).toEqual([])
    })
  }

  it('The list names every fault at once', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject({
      url: '/v1/transactions?limit=0&kind=x',
    })
    expect(answer.json().faults.map((fault: { path: string }) => fault.path)).toEqual(['kind', 'limit'])
  })

  it('The cursor of a page comes back as the same pair', async () => {
    const items = [] as const
    const list = async () => ({ items, cursor: { at: 7, gid: toGid('x') } })
    const engine = createScriptedEngine({ list })
    const app = buildApp({ engine })
    const page = (await app.inject({ url: '/v1/transactions' })).json()
    await app.inject({ url: `/v1/transactions?cursor=${page.cursor}` })
    expect(engine.calls[1]?.arguments).toEqual([{ limit: 50, cursor: { at: 7, gid: 'x' } }, '127.0.0.1'])
  })

  it('A short page that is not the last tells how far the search has come', async () => {
    const item = { ...pageExample.items[0], gid: 'a' } as TransactionSummary
    const pages = [
      { items: [item], cursor: { at: 7, gid: toGid('x') } },
      { items: [item, item], cursor: { at: 7, gid: toGid('x') } },
      { items: [item] },
    ]
    const searched = pages.map(async (page) => {
      const app = buildApp({ engine: createScriptedEngine({ list: async () => page }) })
      return (await app.inject({ url: '/v1/transactions?limit=2' })).json().searchedTo
    })
    expect(await Promise.all(searched)).toEqual([7, undefined, undefined])
  })

  it('Any cursor can be read back, and another text never throws', () => {
    const gids = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 128 }).filter(isGid)
    fc.assert(
      fc.property(fc.maxSafeNat(), gids, (createdAt, gid) => {
        expect(readCursor(writeCursor({ at: createdAt, gid }))).toEqual({ at: createdAt, gid })
      }),
    )
    fc.assert(fc.property(fc.string(), (text) => void readCursor(text)))
  })
})

describe('GET /v1/problems', () => {
  it('The problems are shown as the engine counts them', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject({ url: '/v1/problems' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual(problemsExample)
  })

  it('While the store is away the answer is 503', async () => {
    const problems = () => Promise.reject(new CounterstepError('SAGA_STORE_UNAVAILABLE', 'away'))
    const answer = await buildApp({ engine: createScriptedEngine({ problems }) }).inject({
      url: '/v1/problems',
    })
    expect(answer.statusCode).toBe(503)
  })
})

it.each(['/v1/transactions', '/v1/live'])(
  'S17: A refusal repeats little of the name of an unknown parameter: %s',
  async (path) => {
    const engine = createScriptedEngine()
    const answer = await buildApp({ engine }).inject({ url: `${path}?${'x'.repeat(14_000)}=1` })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().faults[0].path).toBe('x'.repeat(64))
  },
)
