import type { BranchAnswer } from '@counterstep/core'
import type { ErrorCode } from '@counterstep/protocol'
import { submitViewSchema, transactionPageSchema, transactionViewSchema } from '@counterstep/protocol/schemas'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildRealServer } from './real-server.ts'

const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200, excerpt: '{"ok":true}' }
const FAILURE: BranchAnswer = { result: 'failure', statusCode: 409 }
const ONGOING: BranchAnswer = { result: 'ongoing', statusCode: 425 }

const action = 'http://127.0.0.1:9001/debit'
const compensation = 'http://127.0.0.1:9001/debit/undo'

function submit(app: FastifyInstance, body: unknown, headers: Record<string, string> = {}) {
  const options: InjectOptions = {
    method: 'POST',
    url: '/v1/transactions',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  }
  return app.inject(options)
}

describe('the HTTP API over the real engine', () => {
  it('A saga succeeds, and every view fits the schemas', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const branches = [
      { action, compensation, payload: { cents: 1 } },
      { action, body: 'text', after: [] },
    ]
    const answer = await submit(server.app, { gid: 'a/b', branches }, { prefer: 'wait=10' })
    expect(answer.statusCode).toBe(200)
    expect(submitViewSchema.parse(answer.json()).status).toBe('succeeded')
    const seen = await server.app.inject({ url: '/v1/transactions/a%2Fb' })
    expect(transactionViewSchema.parse(seen.json())).toMatchObject({ gid: 'a/b', status: 'succeeded' })
    const page = transactionPageSchema.parse((await server.app.inject({ url: '/v1/transactions' })).json())
    expect(page.items.map(({ gid }) => gid)).toEqual(['a/b'])
    expect(server.calls.map(({ body }) => body).sort()).toEqual(['text', '{"cents":1}'])
    const metrics = (await server.app.inject({ url: '/metrics' })).body
    expect(metrics).toContain('counterstep_transactions_accepted_total{kind="saga"} 1')
    expect(metrics).toMatch(
      /counterstep_branch_call_duration_seconds_count\{op="action",result="success"\} 2/,
    )
  })

  it('A saga that fails is compensated', async () => {
    await using server = await buildRealServer(({ branchId, op }) =>
      op === 'action' && branchId === '02' ? FAILURE : SUCCESS,
    )
    const branches = [
      { action, compensation },
      { action, compensation },
    ]
    const answer = await submit(server.app, withSecrets({ branches }), { prefer: 'wait=10' })
    expect(answer.statusCode).toBe(200)
    expect(submitViewSchema.parse(answer.json())).toMatchObject({
      status: 'failed',
      abort: { cause: 'branch-failed' },
    })
    expect(server.calls.map(({ branchId, op }) => `${branchId} ${op}`)).toEqual([
      '01 action',
      '02 action',
      '02 compensate',
      '01 compensate',
    ])
  })

  it('An abort turns a transaction around, and a later one comes too late', async () => {
    await using server = await buildRealServer(({ op }) => (op === 'action' ? ONGOING : SUCCESS))
    const answer = await submit(server.app, { gid: 'x', branches: [{ action, compensation }] })
    expect(answer.statusCode).toBe(202)
    expect(answer.headers.location).toBe('/v1/transactions/x')
    const abort = () => server.app.inject({ method: 'POST', url: '/v1/transactions/x/abort' })
    expect([200, 202]).toContain((await abort()).statusCode)
    await expect
      .poll(async () => (await server.app.inject({ url: '/v1/transactions/x' })).json().status)
      .toBe('failed')
    expect((await abort()).json()).toMatchObject({ code: 'SAGA_ALREADY_FINAL', status: 409 })
  })

  it('The same gid is the same transaction with the same content only', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const body = { gid: 'x', branches: [{ action, payload: { a: 1, b: 2 } }] }
    await submit(server.app, body, { prefer: 'wait=5' })
    const again = { branches: [{ payload: { b: 2, a: 1 }, action }], gid: 'x' }
    expect((await submit(server.app, again)).statusCode).toBe(200)
    const other = await submit(server.app, { ...body, deadlineMs: 5 })
    expect(other.json()).toMatchObject({ code: 'SAGA_GID_CONFLICT', status: 409 })
    expect(server.calls).toHaveLength(1)
  })

  const branch = { action }
  const good = { branches: [branch] }
  const deep = `${'['.repeat(40)}1${']'.repeat(40)}`
  const bad: readonly (readonly [string, unknown, ErrorCode, string])[] = [
    ['malformed JSON', '{', 'SAGA_MALFORMED_JSON', ''],
    ['a list', [], 'SAGA_INVALID', ''],
    ['wrong types', { branches: 'x' }, 'SAGA_INVALID', '/branches'],
    ['an unknown field', { ...good, colour: 1 }, 'SAGA_UNKNOWN_FIELD', '/colour'],
    ['no branches', { branches: [] }, 'SAGA_NO_BRANCHES', '/branches'],
    ['101 branches', { branches: Array(101).fill(branch) }, 'SAGA_TOO_MANY_BRANCHES', '/branches'],
    [
      'a payload over 256 KiB',
      { branches: [{ action, payload: 'x'.repeat(256 * 1024) }] },
      'SAGA_PAYLOAD_TOO_LARGE',
      '/branches/0/payload',
    ],
    ['a body over 1 MiB', 'x'.repeat(2 ** 20 + 1), 'SAGA_BODY_TOO_LARGE', ''],
    [
      'a cycle',
      {
        branches: [
          { action, id: 'a', after: ['b'] },
          { action, id: 'b', after: ['a'] },
        ],
      },
      'SAGA_AFTER_CYCLE',
      '/branches/0/after',
    ],
    [
      'an unknown after',
      { branches: [{ action, after: ['z'] }] },
      'SAGA_AFTER_UNKNOWN',
      '/branches/0/after/0',
    ],
    ['an ftp URL', { branches: [{ action: 'ftp://x/y' }] }, 'SAGA_URL_INVALID', '/branches/0/action'],
    ['a bad header name', { ...good, headers: { 'a b': 'x' } }, 'SAGA_HEADER_INVALID', '/headers/a b'],
    ['a bad header value', { ...good, headers: { a: 'x\ny' } }, 'SAGA_HEADER_INVALID', '/headers/a'],
    ['a bad gid', { ...good, gid: 'a b' }, 'SAGA_GID_INVALID', '/gid'],
    ['a gid of dots', { ...good, gid: '..' }, 'SAGA_GID_INVALID', '/gid'],
    [
      'a deadline over 30 days',
      { ...good, deadlineMs: 30 * 86_400_000 + 1 },
      'SAGA_DEADLINE_INVALID',
      '/deadlineMs',
    ],
    [
      'a number that is not exact',
      `{"branches":[{"action":"${action}","payload":{"a":9007199254740993}}]}`,
      'SAGA_NUMBER_NOT_EXACT',
      '/branches/0/payload/a',
    ],
    [
      'a poisonous key',
      `{"branches":[{"action":"${action}","payload":{"__proto__":{}}}]}`,
      'SAGA_INVALID',
      '/branches/0/payload/__proto__',
    ],
    ['too deep JSON', `{"branches":[{"action":"${action}","payload":${deep}}]}`, 'SAGA_PAYLOAD_TOO_DEEP', ''],
  ]
  for (const [title, body, code, path] of bad) {
    it(`A submit with ${title} is refused with ${code} and its place, and nothing is stored`, async () => {
      await using server = await buildRealServer(() => SUCCESS)
      const answer = await submit(server.app, body)
      expect(answer.statusCode).toBeGreaterThanOrEqual(400)
      expect(answer.statusCode).toBeLessThan(500)
      expect(answer.json()).toMatchObject({ code, ...(path === '' ? {} : { path }) })
      expect((await server.app.inject({ url: '/v1/transactions' })).json().items).toEqual([])
      expect(server.calls).toEqual([])
    })
  }

  it('A stopping engine is not ready and takes nothing', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    await server.engine.close()
    const ready = await server.app.inject({ url: '/health/ready' })
    expect(ready.json()).toMatchObject({ status: 503, code: 'SAGA_STOPPING', reason: 'stopping' })
    expect(ready.headers.connection).toBe('close')
    const refused = await submit(server.app, good)
    expect([refused.json().code, refused.headers.connection]).toEqual(['SAGA_STOPPING', 'close'])
  })
})
