import { createOperator, isRefused, isUnavailable, type Operator } from '@counterstep/sdk/operator'
import { describe, expect, it } from 'vitest'
import { catchError } from '../catch-error.ts'
import { problem, scriptedServer } from '../scripted-server.ts'

const VIEW = {
  gid: 'order/1',
  kind: 'saga',
  status: 'aborting',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const FINE = { status: 200, body: VIEW }
const op = { branchId: 'debit', op: 'compensate' } as const

/** Every command, and what it sends beside its id. */
const COMMANDS: readonly (readonly [
  string,
  (operator: Operator) => Promise<unknown>,
  string,
  Readonly<Record<string, unknown>>,
])[] = [
  ['retry', (operator) => operator.retry('order/1'), 'retry', {}],
  [
    'retryOp',
    (operator) => operator.retryOp('order/1', op, { reason: 'r' }),
    'ops/debit/compensate/retry',
    { reason: 'r' },
  ],
  [
    'pause',
    (operator) => operator.pause('order/1', { reason: 'r', until: 5 }),
    'pause',
    { reason: 'r', until: 5 },
  ],
  ['resume', (operator) => operator.resume('order/1', { planId: 'p' }), 'resume', { planId: 'p' }],
  ['abort', (operator) => operator.abort('order/1', { reason: 'r' }), 'abort', { reason: 'r' }],
  ['stop', (operator) => operator.stop('order/1', { reason: 'r' }), 'stop', { reason: 'r' }],
  [
    'skip',
    (operator) => operator.skip('order/1', op, { reason: 'r', doneBy: 'hand', answer: { id: 1 } }),
    'ops/debit/compensate/skip',
    { reason: 'r', doneBy: 'hand', answer: { id: 1 } },
  ],
  [
    'edit',
    (operator) =>
      operator.edit('order/1', op, {
        reason: 'r',
        url: 'bank:/v2',
        confirm: 'no-call-took-effect',
        retryForMs: 0,
      }),
    'ops/debit/compensate/edit',
    { reason: 'r', url: 'bank:/v2', confirm: 'no-call-took-effect' },
  ],
]

describe('commands', () => {
  for (const [name, give, path, fields] of COMMANDS) {
    it(`The command ${name} sends its fields and an id, and returns the transaction`, async () => {
      await using server = await scriptedServer([FINE])
      expect(await give(createOperator({ url: server.url }))).toEqual(VIEW)
      expect(server.seen[0]).toMatchObject({ method: 'POST', url: `/v1/transactions/order%2F1/${path}` })
      const { commandId, ...sent } = JSON.parse(server.seen[0]?.body ?? '')
      expect(commandId).toMatch(/^[\w-]{36}$/)
      expect(sent).toEqual(fields)
    })
  }

  it('All attempts of a command have one id, and two commands have two', async () => {
    await using server = await scriptedServer(['cut', problem(503, 'SAGA_STOPPING'), FINE])
    const operator = createOperator({ url: server.url })
    await operator.retry('order/1')
    await operator.retry('order/1')
    await operator.retry('order/1', { commandId: 'mine' })
    const ids = server.seen.map(({ body }) => JSON.parse(body).commandId)
    expect(ids).toHaveLength(5)
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[3]).not.toBe(ids[0])
    expect(ids[4]).toBe('mine')
  })

  it('An abort can wait for the end, and does not send that as a field', async () => {
    await using server = await scriptedServer([FINE])
    await createOperator({ url: server.url }).abort('order/1', { reason: 'r', waitMs: 4_500 })
    expect(server.seen[0]?.headers.prefer).toBe('wait=5')
    expect(Object.keys(JSON.parse(server.seen[0]?.body ?? ''))).toEqual(['commandId', 'reason'])
  })

  it('A refusal is thrown with its code, and is not sent again', async () => {
    await using server = await scriptedServer([problem(409, 'SAGA_PLAN_CHANGED')])
    const error = await catchError(createOperator({ url: server.url }).retry('a', { planId: 'old' }))
    expect(isRefused(error)).toBe(true)
    expect(error).toMatchObject({ code: 'SAGA_PLAN_CHANGED', status: 409, gid: 'a' })
    expect(server.seen).toHaveLength(1)
  })
})

describe('looks', () => {
  it('A list sends every filter, one tag after the other', async () => {
    await using server = await scriptedServer([
      { status: 200, body: { items: [{ gid: 'a' }], cursor: 'c' } },
      { status: 200, body: { items: [{ gid: 'b' }] } },
    ])
    const filter = {
      status: ['submitted', 'aborting'],
      name: 'transfer',
      tags: { region: 'eu', tier: '2' },
      problem: 'bank-a compensate 500',
      gid: 'order-*',
      order: '-due',
      paused: true,
      byHand: true,
      edited: true,
    } as const
    const gids: string[] = []
    for await (const { gid } of createOperator({ url: server.url }).list(filter)) gids.push(gid)
    expect(gids).toEqual(['a', 'b'])
    const [first, second] = server.seen.map(({ url }) => new URL(url, 'http://x').searchParams)
    expect([...(first ?? [])]).toEqual([
      ['tag', 'region:eu'],
      ['tag', 'tier:2'],
      ['status', 'submitted,aborting'],
      ['name', 'transfer'],
      ['problem', 'bank-a compensate 500'],
      ['gid', 'order-*'],
      ['order', '-due'],
      ['paused', 'true'],
      ['byHand', 'true'],
      ['edited', 'true'],
    ])
    expect(second?.get('cursor')).toBe('c')
    expect(second?.getAll('tag')).toEqual(['region:eu', 'tier:2'])
  })

  const views = [
    ['problems', '/v1/problems', { items: [] }],
    ['services', '/v1/services', { items: [] }],
    ['names', '/v1/names', { items: [] }],
    ['overview', '/v1/overview', { nodes: [] }],
    ['panels', '/v1/panels', { items: [] }],
  ] as const
  for (const [name, path, body] of views) {
    it(`The view of ${name} is read, and another answer is not taken for it`, async () => {
      await using server = await scriptedServer([
        { status: 200, body },
        { status: 200, body: { status: 'ok' } },
      ])
      const operator = createOperator({ url: server.url, retryForMs: 0 })
      expect(await operator[name]()).toEqual(body)
      expect(server.seen[0]).toMatchObject({ method: 'GET', url: path })
      expect(isUnavailable(await catchError(operator[name]()))).toBe(true)
    })
  }

  it('A panel is read by its id', async () => {
    await using server = await scriptedServer([{ status: 200, body: { columns: [], rows: [] } }])
    expect(await createOperator({ url: server.url }).panel('a/b')).toEqual({ columns: [], rows: [] })
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/v1/panels/a%2Fb' })
  })

  it('The requests and a preview are asked for by gid', async () => {
    await using server = await scriptedServer([
      { status: 200, body: { gid: 'a', ops: [] } },
      { status: 200, body: { planId: 'p' } },
    ])
    const operator = createOperator({ url: server.url })
    await operator.request('a')
    await operator.preview('a', { command: 'skip', op, doneBy: 'hand' })
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/transactions/a/request',
      'POST /v1/transactions/a/preview',
    ])
    expect(JSON.parse(server.seen[1]?.body ?? '')).toEqual({ command: 'skip', op, doneBy: 'hand' })
  })

  it('The requests of another transaction are no answer', async () => {
    await using server = await scriptedServer([{ status: 200, body: { gid: 'b', ops: [] } }])
    const operator = createOperator({ url: server.url, retryForMs: 0 })
    expect(isUnavailable(await catchError(operator.request('a')))).toBe(true)
  })

  for (const [transport, options] of [
    ["Node's client", {}],
    ['fetch', { fetch: globalThis.fetch }],
  ] as const) {
    it(`The time is that of the server once an answer has told it, over ${transport}`, async () => {
      const serverNow = Date.now() + 3_600_000
      await using server = await scriptedServer([
        { status: 200, body: VIEW, headers: { 'counterstep-now': String(serverNow) } },
        { status: 200, body: VIEW, headers: { 'counterstep-now': 'soon' } },
      ])
      const operator = createOperator({ url: server.url, ...options })
      expect(operator.now()).toBeLessThan(serverNow - 3_000_000)
      await operator.show('order/1')
      expect(operator.now()).toBeGreaterThanOrEqual(serverNow)
      await operator.show('order/1')
      expect(operator.now()).toBeLessThan(serverNow + 60_000)
    })
  }
})
