/** A JSON-RPC server answers 200 with an error inside. If it were called as plain HTTP, that would count as success. */
import { loopbackTargets } from '@counterstep/branch-http/targets'
import { until } from '@counterstep/test-servers/until'
import { describe, expect, it } from 'vitest'
import { buildSagaDefinition } from '../src/definition/saga-definition.ts'
import { buildSubmission } from '../src/definition/submission.ts'
import { readGid } from '../src/wire/read-gid.ts'
import { readRequest } from '../src/wire/read-request.ts'
import type { PlayedBranches } from './support/branch-service.ts'
import { type DtmFixture, openDtmFixture, type Targets, UNTIL_MS_MAX } from './support/dtm-fixture.ts'
import { message, tcc } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const NOT_THERE = {
  status: 501,
  body: '{"message":"query-backs and branches of XA by JSON-RPC are not there yet: sagas, TCC, XA, two-phase messages and workflows over HTTP are"}',
}
/** This answer means that nothing was debited. */
const RPC_ERROR = {
  status: 200,
  body: '{"jsonrpc":"2.0","id":"1","error":{"code":-32000,"message":"no funds"}}',
}
const RPC_DONE = { status: 200, body: '{"jsonrpc":"2.0","id":"1","result":"ok","error":null}' }
const RPC = { protocol: 'json-rpc' }

async function readOp({ node }: DtmFixture, gid: string) {
  return (await node.engine.get(gid as never))?.branches[0]?.ops[0]
}

async function untilStatus({ node }: DtmFixture, gid: string, status: string): Promise<void> {
  await until(status, UNTIL_MS_MAX, async () => (await node.engine.get(gid as never))?.status === status)
}

function buildSaga(gid: string, step: object, more: object = RPC) {
  return { gid, trans_type: 'saga', steps: [step], payloads: ['{}'], ...more }
}

async function isStored({ node }: DtmFixture, gid: string): Promise<boolean> {
  return (await node.engine.get(gid as never)) !== undefined
}

/** Stores the saga as a version did that did not refuse it. */
async function storeOld({ node }: DtmFixture, gid: string, url: string): Promise<void> {
  const request = readRequest(JSON.stringify(buildSaga(gid, { action: url })))
  const definition = buildSagaDefinition({ ...request, protocol: 'http' }, { checkUrl: () => undefined })
  await node.engine.accept(buildSubmission(readGid(gid), request, definition, 'ticket'))
}

function answerError(code: number) {
  return { status: 200, body: `{"jsonrpc":"2.0","id":"1","error":{"code":${code},"message":"no funds"}}` }
}

function readEnvelopes({ calls }: PlayedBranches): readonly Record<string, unknown>[] {
  return calls.map(({ body }) => JSON.parse(body))
}

describe('a branch that DTM calls by JSON-RPC', () => {
  it('The payload comes in an envelope with the method of the URL and the identity of the call', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_DONE] })
    const steps = ['a', 'b'].map((method) => ({ action: `${branches.url}/rpc?method=debit.${method}` }))
    const payloads = ['{"amount": 12345678901234567890}', '']
    const saga = { ...buildSaga('s', {}), steps, payloads, wait_result: true }
    expect(await dtm.node.post('submit', saga)).toEqual(OK)
    const identity = { gid: 's', trans_type: 'saga', op: 'action' }
    expect(readEnvelopes(branches)).toEqual([
      {
        ...{ jsonrpc: '2.0', id: 's-01-action', method: 'debit.a' },
        params: { amount: expect.any(Number), ...identity, branch_id: '01' },
      },
      {
        ...{ jsonrpc: '2.0', id: 's-02-action', method: 'debit.b' },
        params: { ...identity, branch_id: '02' },
      },
    ])
    expect(branches.calls[0]?.body).toContain('12345678901234567890')
    expect(branches.calls[0]?.target).toContain('method=debit.a')
  })

  it('An envelope is called JSON, also where its gid and the headers of its branch would make a form of it', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_DONE] })
    const gid = 'a1&gid=victim&trans_type=saga&branch_id=01&op=compensate&'
    const headers = { branch_headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
    const saga = buildSaga(gid, { action: `${branches.url}/rpc?method=debit` }, { ...RPC, ...headers })
    expect(await dtm.node.post('submit', { ...saga, wait_result: true })).toEqual(OK)
    const types = branches.calls[0]?.headers.filter(([name]) => name.toLowerCase() === 'content-type')
    expect(types).toEqual([[expect.any(String), 'application/json']])
  })

  it('The code -32901 within a 200 is a failure, and what was done before is compensated by JSON-RPC', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/first': [RPC_DONE], '/second': [answerError(-32_901)] })
    const steps = ['first', 'second'].map((path) => ({
      action: `${branches.url}/${path}?method=do`,
      compensate: `${branches.url}/${path}-undo?method=undo`,
    }))
    await dtm.node.post('submit', { ...buildSaga('s', {}), steps, payloads: ['{}', '{}'] })
    await untilStatus(dtm, 's', 'failed')
    expect(readEnvelopes(branches).map(({ method, id }) => `${id} ${method}`)).toEqual([
      's-01-action do',
      's-02-action do',
      's-02-compensate undo',
      's-01-compensate undo',
    ])
  })

  it('The code -32902 is ongoing, any other error is unknown, and both are called again', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({
      '/ongoing': [answerError(-32_902)],
      '/error': [RPC_ERROR],
      '/text': [{ status: 200, body: 'done' }],
      '/gateway': [{ status: 502, body: '' }],
    })
    const expected = {
      ongoing: { result: 'ongoing' },
      error: { result: 'unknown', error: 'json-rpc-error' },
      text: { result: 'unknown', error: 'unread' },
      gateway: { result: 'unknown', statusCode: 502 },
    }
    for (const [path, result] of Object.entries(expected)) {
      await dtm.node.post('submit', buildSaga(path, { action: `${branches.url}/${path}?method=m` }))
      await until('it waits', UNTIL_MS_MAX, async () => (await readOp(dtm, path))?.state === 'waiting')
      expect(await readOp(dtm, path)).toMatchObject(result)
    }
  })

  it('Each delivery of a message and both calls of a TCC are made by JSON-RPC', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_DONE] })
    const url = `${branches.url}/rpc?method=m`
    await dtm.node.get(`subscribe?topic=t&url=${encodeURIComponent(url)}`)
    const waits = { ...RPC, wait_result: true }
    expect(await dtm.node.post('submit', message('m', [url, 'topic://t'], waits))).toEqual(OK)
    for (const command of ['submit', 'abort'] as const) {
      const gid = `tcc-${command}`
      expect(await dtm.node.post('prepare', tcc(gid, waits))).toEqual(OK)
      const branch = { gid, trans_type: 'tcc', branch_id: '01', data: '{"a":1}', confirm: url, cancel: url }
      expect(await dtm.node.post('registerBranch', branch)).toEqual(OK)
      expect(await dtm.node.post(command, tcc(gid, waits))).toEqual(OK)
    }
    expect(readEnvelopes(branches).map(({ params }) => params)).toEqual([
      { gid: 'm', trans_type: 'msg', branch_id: '01', op: 'action' },
      { gid: 'm', trans_type: 'msg', branch_id: '02', op: 'action' },
      { a: 1, gid: 'tcc-submit', trans_type: 'tcc', branch_id: '01', op: 'confirm' },
      { a: 1, gid: 'tcc-abort', trans_type: 'tcc', branch_id: '01', op: 'cancel' },
    ])
  })

  it('A payload that names the identity or is no object is refused, and so is a URL without a method', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const action = `${branches.url}/rpc?method=m`
    const bad = [
      '[]',
      '"text"',
      '1',
      '{"gid":"x"}',
      '{"Op":1}',
      '{"TRANS_TYPE":1}',
      '{"\\u0067id":1}',
      '{',
      ' ',
    ]
    for (const payload of bad) {
      const answer = await dtm.node.post('submit', { ...buildSaga('bad', { action }), payloads: [payload] })
      expect(answer.status, payload).toBe(500)
      expect(answer.body).toContain('a payload of JSON-RPC is no object')
    }
    for (const path of ['/method', '/rpc?a=method', '/rpc?method=']) {
      const answer = await dtm.node.post('submit', buildSaga('bad', { action: branches.url + path }))
      expect([answer.status, answer.body]).toEqual([500, expect.stringContaining('parameter \\"method\\"')])
    }
    expect(await isStored(dtm, 'bad')).toBe(false)
    expect(branches.calls).toEqual([])
  })

  it('A query-back and a branch of XA by JSON-RPC are refused, and nothing is stored', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const url = `${branches.url}/rpc?method=m`
    expect(await dtm.node.post('prepare', message('m', [url], { ...RPC, query_prepared: url }))).toEqual(
      NOT_THERE,
    )
    expect(await isStored(dtm, 'm')).toBe(false)
    expect(await dtm.node.post('prepare', { gid: 'x', trans_type: 'xa', ...RPC })).toEqual(OK)
    const branch = { gid: 'x', trans_type: 'xa', branch_id: '01', url }
    expect(await dtm.node.post('registerBranch', branch)).toEqual(NOT_THERE)
  })

  it('A submit whose protocol is another than that of the prepare is refused, and the transaction stays prepared', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const url = `${branches.url}/rpc?method=m`
    const asked = { query_prepared: `${branches.url}/q` }
    await dtm.node.post('prepare', message('message', [url], asked))
    await dtm.node.post('prepare', tcc('tcc'))
    const branch = { gid: 'tcc', trans_type: 'tcc', branch_id: '01', data: '{}', confirm: url, cancel: url }
    expect(await dtm.node.post('registerBranch', branch)).toEqual(OK)
    for (const body of [message('message', [url], { ...asked, ...RPC }), tcc('tcc', RPC)]) {
      const answer = await dtm.node.post('submit', body)
      expect([answer.status, answer.body]).toEqual([
        500,
        expect.stringContaining('another than that of its prepare'),
      ])
      expect((await dtm.node.engine.get(body.gid as never))?.status).toBe('prepared')
    }
    expect(branches.calls).toEqual([])
  })

  it('A branch is called as plain HTTP where DTM does that, too', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const waits = { wait_result: true }
    const noMethod = { action: `${branches.url}/METHOD?m=1` }
    expect(await dtm.node.post('submit', buildSaga('no-method', noMethod, { ...RPC, ...waits }))).toEqual(OK)
    const action = `${branches.url}/rpc?method=debit`
    expect(await dtm.node.post('submit', buildSaga('http', { action }, waits))).toEqual(OK)
    expect(branches.calls).toHaveLength(2)
  })
})

describe('a transaction of JSON-RPC that an older version has stored', () => {
  it('A stored JSON-RPC transaction is not called, and its view says why', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    await storeOld(dtm, 'old', `${branches.url}/rpc?method=debit`)
    await until('it waits', UNTIL_MS_MAX, async () => (await readOp(dtm, 'old'))?.state === 'waiting')
    expect(await readOp(dtm, 'old')).toMatchObject({ result: 'unknown', error: 'json-rpc' })
    expect(branches.calls).toEqual([])
  })

  it('Mutant: without the check before the call it counts as done, though nothing was debited', async () => {
    const policy = loopbackTargets()
    const unguarded: Targets = { policy, check: (url) => policy.check(url), refuse: () => undefined }
    await using dtm = await openDtmFixture(unguarded)
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    await storeOld(dtm, 'old', `${branches.url}/rpc?method=debit`)
    await untilStatus(dtm, 'old', 'succeeded')
    expect(branches.calls).toHaveLength(1)
  })
})

describe('a command given by JSON-RPC', () => {
  it('A caller who waits for what is ongoing gets an error that has the word in its text, and no failure', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/a1': [{ status: 425 }] })
    const params = { ...buildSaga('ongoing', { action: `${branches.url}/a1` }, {}), wait_result: true }
    const payload = JSON.stringify({ jsonrpc: '2.0', id: '7', method: 'submit', params })
    const answer = await dtm.node.app.inject({ method: 'POST', url: '/api/json-rpc', payload })
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { error: { code: -32_603, message: 'ONGOING' }, id: '7', jsonrpc: '2.0', result: null },
    ])
    expect(await isStored(dtm, 'ongoing')).toBe(true)
  })

  it('The id of a request whose method cannot be read is given back, and keys match in any letter case', async () => {
    await using dtm = await openDtmFixture()
    const ask = async (payload: string) =>
      (await dtm.node.app.inject({ method: 'POST', url: '/api/json-rpc', payload })).json()
    expect(await ask('{"method":1,"id":"7"}')).toMatchObject({ id: '7', error: { code: -32_700 } })
    expect(await ask('{"JSONRPC":"2.0","ID":"8","Method":"newGid"}')).toMatchObject({ id: '8', error: null })
    expect(await ask('{"jsonrpc":"2.0","id":"9","method":"prepare","params":[]}')).toMatchObject({
      id: '9',
      error: { code: -32_603, message: expect.stringContaining('cannot unmarshal array') },
    })
  })
  it('An id, a method and a version are repeated up to 256 characters, and longer ones are refused', async () => {
    await using dtm = await openDtmFixture()
    const long = '<'.repeat(100_000)
    for (const more of [{ id: long }, { method: long }, { jsonrpc: long }]) {
      const payload = JSON.stringify({ jsonrpc: '2.0', id: '7', method: 'newGid', ...more })
      const answer = await dtm.node.app.inject({ method: 'POST', url: '/api/json-rpc', payload })
      expect(answer.json()).toMatchObject({ error: { code: -32_600 } })
      expect(answer.body.length).toBeLessThan(10_000)
    }
    const unread = await dtm.node.app.inject({
      method: 'POST',
      url: '/api/json-rpc',
      payload: JSON.stringify({ id: long, method: 1 }),
    })
    expect(unread.json()).toMatchObject({ error: { code: -32_700 }, id: long.slice(0, 256) })
  })
})
