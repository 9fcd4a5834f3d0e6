import { createGate, readBearerKey } from '@counterstep/access'
import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildRealServer } from './real-server.ts'
import { openScopeKeys } from './scope-keys.ts'
import { createScriptedEngine } from './scripted-engine.ts'

const { BulkPreview: bulkPreviewSchema, BulkView: bulkViewSchema } = NAMED_SCHEMAS
const UNKNOWN = { result: 'unknown', statusCode: 500 } as const
const SUCCESS = { result: 'success', statusCode: 200 } as const
const ORDER = { command: 'retry', filter: 'retrying=true', reason: 'the bank is mended', ratePerSecond: 500 }

function post(app: FastifyInstance, url: string, body?: unknown) {
  if (body === undefined) return app.inject({ method: 'POST', url })
  const headers = { 'content-type': 'application/json' }
  return app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
}

describe('bulk jobs over HTTP', () => {
  it('A job finds what waits, says what it would do, does it, and its counts add up', async () => {
    let isMended = false
    await using server = await buildRealServer(() => (isMended ? SUCCESS : UNKNOWN))
    const { app } = server
    const retry = { initialMs: 3_600_000, factor: 1, capMs: 3_600_000, jitter: 0 }
    for (let number = 0; number < 30; number++) {
      const branches = [{ action: 'http://127.0.0.1:9001/debit' }]
      await post(app, '/v1/transactions', { gid: `order-${number}`, retry, branches })
    }
    const preview = async () =>
      bulkPreviewSchema.parse((await post(app, '/v1/bulk?dryRun=true', ORDER)).json())
    await expect.poll(async () => (await preview()).count).toBe(30)
    expect((await preview()).groups).toEqual([{ problem: '127.0.0.1:9001 action 500', count: 30 }])
    isMended = true
    const answer = await post(app, '/v1/bulk', ORDER)
    expect(answer.statusCode).toBe(202)
    const { id, ...job } = bulkViewSchema.parse(answer.json())
    expect(job).toMatchObject({ by: { via: 'local' }, state: 'canary', canary: 10 })
    const show = async () => bulkViewSchema.parse((await app.inject({ url: `/v1/bulk/${id}` })).json())
    await expect.poll(async () => (await show()).state, { timeout: 30_000 }).toBe('done')
    expect((await show()).counts).toMatchObject({ total: 30, given: 30, gotOn: 30, waiting: 0, refused: 0 })
    const { items } = (await app.inject({ url: '/v1/bulk' })).json()
    expect(items.map((each: { id: string }) => each.id)).toEqual([id])
    expect((await post(app, `/v1/bulk/${id}/resume`)).json()).toMatchObject({ code: 'SAGA_JOB_ENDED' })
  })

  for (const [what, body, code] of [
    ['no command', { ...ORDER, command: 'explode' }, 'SAGA_BULK_INVALID'],
    ['a command that changes one op', { ...ORDER, command: 'skip' }, 'SAGA_BULK_INVALID'],
    ['no reason', { ...ORDER, reason: ' ' }, 'SAGA_BULK_INVALID'],
    ['both gids and a filter', { ...ORDER, gids: ['a'] }, 'SAGA_BULK_INVALID'],
    ['neither', { command: 'retry', reason: 'x' }, 'SAGA_BULK_INVALID'],
    ['a gid that is none', { command: 'retry', reason: 'x', gids: ['a b'] }, 'SAGA_BULK_INVALID'],
    ['too many gids', { command: 'retry', reason: 'x', gids: Array(1_001).fill('a') }, 'SAGA_BULK_INVALID'],
    ['a filter that is none', { ...ORDER, filter: 'colour=red' }, 'SAGA_QUERY_INVALID'],
    ['a page', { ...ORDER, filter: 'limit=5' }, 'SAGA_BULK_INVALID'],
    ['a bound of null', { ...ORDER, max: null }, 'SAGA_BULK_INVALID'],
    ['a list that no preview has written', { ...ORDER, previewed: 'short' }, 'SAGA_BULK_INVALID'],
    [
      'a list beside gids',
      { command: 'retry', reason: 'x', gids: ['a'], previewed: '' },
      'SAGA_BULK_INVALID',
    ],
    ['a rate of 0', { ...ORDER, ratePerSecond: 0 }, 'SAGA_BULK_INVALID'],
    ['a field too many', { ...ORDER, force: true }, 'SAGA_UNKNOWN_FIELD'],
  ] as const) {
    it(`A request with ${what} is refused with ${code}, and starts nothing`, async () => {
      const engine = createScriptedEngine()
      const answer = await post(buildApp({ engine }), '/v1/bulk', body)
      expect(answer.json()).toMatchObject({ code })
      expect(engine.calls).toEqual([])
    })
  }

  it('S38: A job and the trail of each of its transactions name the key of who started it', async () => {
    await using server = await buildRealServer(() => UNKNOWN)
    await using held = await openScopeKeys()
    const gate = createGate({ keys: held.ring, credentials: readBearerKey })
    const app = buildApp({ engine: server.engine, gate })
    const branches = [{ id: 'a', wait: { ms: 3_600_000 } }]
    await post(server.app, '/v1/transactions', { gid: 'order-1', branches })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${held.keys.operate}` }
    const payload = JSON.stringify({ command: 'pause', gids: ['order-1'], reason: 'the bank is away' })
    const answer = await app.inject({ method: 'POST', url: '/v1/bulk', headers, payload })
    const key = expect.objectContaining({ name: 'operate' })
    expect(bulkViewSchema.parse(answer.json()).by).toEqual({ key, via: 'api' })
    const trail = async () => (await server.app.inject({ url: '/v1/transactions/order-1' })).json().trail
    await expect.poll(trail).toMatchObject([{ command: 'pause', by: { key, via: 'bulk' } }])
  })

  it('An unknown job and an unknown parameter are refused', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    const shown = await app.inject({ url: '/v1/bulk/aaaaaaaaaaaaaaaa' })
    expect([shown.statusCode, shown.json().code]).toEqual([404, 'SAGA_UNKNOWN_JOB'])
    expect((await post(app, '/v1/bulk?dryrun=true', ORDER)).json().code).toBe('SAGA_QUERY_INVALID')
    expect((await post(app, '/v1/bulk?dryRun=1', ORDER)).json().code).toBe('SAGA_QUERY_INVALID')
  })
})
