import type { BranchAnswer, BranchCall } from '@counterstep/core'
import { submitViewSchema, transactionPageSchema, transactionViewSchema } from '@counterstep/protocol/schemas'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildRealServer } from './real-server.ts'

const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }
const FAILURE: BranchAnswer = { result: 'failure', statusCode: 409 }

const url = 'http://127.0.0.1:9001'
const action = `${url}/ship`
const check = { url: `${url}/query-back` }

function post(app: FastifyInstance, path: string, body?: unknown, prefer?: string) {
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(prefer === undefined ? {} : { prefer }),
  }
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
  return app.inject({ method: 'POST', url: `/v1/transactions${path}`, headers, ...payload })
}

function buildBranch(id: string) {
  return { id, confirm: `${url}/${id}/confirm`, cancel: `${url}/${id}/cancel`, payload: { of: id } }
}

const called = (calls: readonly BranchCall[]) => calls.map(({ branchId, op }) => `${branchId} ${op}`)

describe('a TCC', () => {
  it('A TCC is prepared, takes branches, and is confirmed newest first', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    const prepared = await post(
      app,
      '',
      { gid: 'trip', kind: 'tcc', headers: { 'x-tenant': 'blue' } },
      'wait=10',
    )
    expect([prepared.statusCode, prepared.headers.location]).toEqual([202, '/v1/transactions/trip'])
    const view = submitViewSchema.parse(prepared.json())
    expect(view).toMatchObject({ kind: 'tcc', status: 'prepared', branches: [] })
    expect((view.deadlineAt ?? 0) - view.createdAt).toBe(35_000)
    for (const id of ['flight', 'hotel', 'flight']) {
      const registered = await post(app, '/trip/branches', buildBranch(id))
      expect(registered.statusCode).toBe(200)
      expect(transactionViewSchema.parse(registered.json()).status).toBe('prepared')
    }
    const submitted = await post(app, '/trip/submit', undefined, 'wait=10')
    expect([submitted.statusCode, submitted.headers['preference-applied']]).toEqual([200, 'wait=10'])
    expect(transactionViewSchema.parse(submitted.json()).status).toBe('succeeded')
    expect(called(server.calls)).toEqual(['hotel confirm', 'flight confirm'])
    expect(server.calls[0]).toMatchObject({
      kind: 'tcc',
      method: 'POST',
      url: `${url}/hotel/confirm`,
      body: '{"of":"hotel"}',
      headers: { 'x-tenant': 'blue' },
    })
    expect((await post(app, '/trip/submit')).statusCode).toBe(200)
    expect((await post(app, '/trip/abort')).json().code).toBe('SAGA_ALREADY_FINAL')
  })

  it('A TCC is cancelled by an abort, which keeps its reason', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    await post(app, '', { gid: 'trip', kind: 'tcc' })
    await post(app, '/trip/branches', buildBranch('flight'))
    await post(app, '/trip/branches', buildBranch('hotel'))
    const aborted = await post(app, '/trip/abort', { reason: 'no room, ä' }, 'wait=10')
    expect(aborted.statusCode).toBe(200)
    expect(transactionViewSchema.parse(aborted.json())).toMatchObject({
      status: 'failed',
      abort: { cause: 'requested', reason: 'no room, ä' },
    })
    expect(called(server.calls)).toEqual(['hotel cancel', 'flight cancel'])
    expect((await post(app, '/trip/submit')).json().code).toBe('SAGA_NOT_PREPARED')
    expect((await post(app, '/trip/branches', buildBranch('car'))).json().code).toBe('SAGA_NOT_PREPARED')
  })

  it('A TCC is cancelled when its time is over', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    await post(app, '', { gid: 'trip', kind: 'tcc', deadlineMs: 300 })
    expect((await post(app, '/trip/branches', buildBranch('hotel'))).statusCode).toBe(200)
    const status = async () => (await app.inject({ url: '/v1/transactions/trip' })).json().status
    await expect.poll(status, { timeout: 8_000 }).toBe('failed')
    expect((await app.inject({ url: '/v1/transactions/trip' })).json().abort.cause).toBe('deadline')
    expect(called(server.calls)).toEqual(['hotel cancel'])
  })

  it('A TCC names the faults of a branch, and takes none with other content, under another gid or of another kind', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    await post(app, '', { gid: 'trip', kind: 'tcc' })
    const wrong = await post(app, '/trip/branches', { confirm: 'ftp://x', cancel: `${url}/x`, colour: 1 })
    expect(wrong.statusCode).toBe(422)
    const faults: readonly { code: string; path: string }[] = wrong.json().faults
    expect(faults.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
      'SAGA_BRANCH_ID_INVALID /id',
      'SAGA_UNKNOWN_FIELD /colour',
      'SAGA_URL_INVALID /confirm',
    ])
    await post(app, '/trip/branches', buildBranch('hotel'))
    const other = await post(app, '/trip/branches', { ...buildBranch('hotel'), payload: 1 })
    expect([other.statusCode, other.json().code]).toEqual([409, 'SAGA_BRANCH_CONFLICT'])
    expect((await post(app, '/nobody/branches', buildBranch('x'))).statusCode).toBe(404)
    await post(app, '', { gid: 'saga', branches: [{ action, after: [] }], delayMs: 60_000 })
    expect((await post(app, '/saga/branches', buildBranch('x'))).json().code).toBe('SAGA_WRONG_KIND')
    expect((await post(app, '/saga/submit')).json().code).toBe('SAGA_WRONG_KIND')
  })
})

describe('a message', () => {
  it('A message with a check is prepared, and called when its sender has submitted it', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    const body = { gid: 'paid', kind: 'message', branches: [{ action }, { action }], check }
    const prepared = await post(app, '', body, 'wait=10')
    expect(prepared.statusCode).toBe(202)
    const view = submitViewSchema.parse(prepared.json())
    expect(view.status).toBe('prepared')
    expect((view.checkAt ?? 0) - view.createdAt).toBe(35_000)
    expect(view.check).toEqual({
      ...{ op: 'msg', url: check.url, service: new URL(check.url).host },
      ...{ state: 'idle', attempts: 0 },
    })
    expect(server.calls).toEqual([])
    expect((await post(app, '/paid/submit', undefined, 'wait=10')).json().status).toBe('succeeded')
    expect(called(server.calls)).toEqual(['01 action', '02 action'])
    expect(server.calls.every(({ kind }) => kind === 'message')).toBe(true)
  })

  it('A message is called when the query-back finds that its sender has committed', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    const body = { gid: 'paid', kind: 'message', branches: [{ action }], check: { ...check, afterMs: 1 } }
    await post(app, '', body)
    const view = async () => (await app.inject({ url: '/v1/transactions/paid' })).json()
    await expect.poll(async () => (await view()).status, { timeout: 8_000 }).toBe('succeeded')
    expect(transactionViewSchema.parse(await view()).check).toMatchObject({
      state: 'succeeded',
      statusCode: 200,
    })
    expect(called(server.calls)).toEqual(['00 msg', '01 action'])
    expect(server.calls[0]).toMatchObject({ method: 'GET', url: check.url, body: '' })
  })

  it('A message is not called when the query-back finds that its sender never will commit', async () => {
    await using server = await buildRealServer(({ op }) => (op === 'msg' ? FAILURE : SUCCESS))
    const { app } = server
    await post(app, '', {
      gid: 'paid',
      kind: 'message',
      branches: [{ action }],
      check: { ...check, afterMs: 1 },
    })
    const view = async () => (await app.inject({ url: '/v1/transactions/paid' })).json()
    await expect.poll(async () => (await view()).status, { timeout: 8_000 }).toBe('failed')
    expect(transactionViewSchema.parse(await view()).abort?.cause).toBe('check-failed')
    expect(called(server.calls)).toEqual(['00 msg'])
  })

  it('A message without a check is submitted from the start, and a list finds each kind', async () => {
    await using server = await buildRealServer(() => SUCCESS)
    const { app } = server
    const body = { gid: 'news', kind: 'message', concurrent: true, branches: [{ action }, { action }] }
    const answer = await post(app, '', body, 'wait=10')
    expect([answer.statusCode, answer.json().status]).toEqual([200, 'succeeded'])
    expect((await post(app, '/news/abort')).json().code).toBe('SAGA_ALREADY_FINAL')
    await post(app, '', { gid: 'trip', kind: 'tcc' })
    await post(app, '', { gid: 'order', branches: [{ action }] }, 'wait=10')
    for (const [kind, gid] of [
      ['message', 'news'],
      ['tcc', 'trip'],
      ['saga', 'order'],
    ]) {
      const page = transactionPageSchema.parse(
        (await app.inject({ url: `/v1/transactions?kind=${kind}` })).json(),
      )
      expect(page.items.map((item) => item.gid)).toEqual([gid])
    }
  })
})
