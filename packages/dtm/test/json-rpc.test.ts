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
  body: '{"message":"branches called by JSON-RPC are not there yet: sagas, TCC, XA and two-phase messages over HTTP are"}',
}
/** This answer means that nothing was debited. */
const RPC_ERROR = {
  status: 200,
  body: '{"jsonrpc":"2.0","id":"1","error":{"code":-32000,"message":"no funds"}}',
}
const RPC = { protocol: 'json-rpc' }

/** Lists URLs that DTM calls by JSON-RPC, since `method` may stand anywhere in one. */
function rpcUrls({ url }: PlayedBranches): readonly string[] {
  return [`${url}/rpc?method=debit`, `${url}/methods/debit`, `${url}/rpc?a=1&xmethodx`]
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

describe('a branch that DTM calls by JSON-RPC', () => {
  it('A JSON-RPC branch is refused wherever its URL stands, and nothing is stored or called', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    const plain = `${branches.url}/x`
    for (const [at, url] of rpcUrls(branches).entries()) {
      const gids = [`action-${at}`, `undo-${at}`, `message-${at}`, `topic-${at}`, `asked-${at}`]
      const [action = '', undo = '', sent = '', topic = '', asked = ''] = gids
      expect(await dtm.node.post('submit', buildSaga(action, { action: url }))).toEqual(NOT_THERE)
      expect(await dtm.node.post('submit', buildSaga(undo, { action: plain, compensate: url }))).toEqual(
        NOT_THERE,
      )
      expect(await dtm.node.post('submit', message(sent, [plain, url], RPC))).toEqual(NOT_THERE)
      await dtm.node.get(`subscribe?topic=t${at}&url=${encodeURIComponent(url)}`)
      expect(await dtm.node.post('submit', message(topic, [`topic://t${at}`], RPC))).toEqual(NOT_THERE)
      const back = { ...RPC, query_prepared: url }
      expect(await dtm.node.post('prepare', message(asked, [plain], back))).toEqual(NOT_THERE)
      for (const gid of gids) expect(await isStored(dtm, gid)).toBe(false)
      expect(await dtm.node.post('prepare', tcc(`tcc-${at}`, RPC))).toEqual(OK)
      for (const urls of [
        { confirm: url, cancel: plain },
        { confirm: plain, cancel: url },
      ]) {
        const branch = { gid: `tcc-${at}`, trans_type: 'tcc', branch_id: '01', data: '{}', ...urls }
        expect(await dtm.node.post('registerBranch', branch)).toEqual(NOT_THERE)
      }
      expect((await dtm.node.engine.get(`tcc-${at}` as never))?.branches).toEqual([])
    }
    expect(branches.calls).toEqual([])
  })

  it('A JSON-RPC branch is refused when only the submit of a prepared transaction names the protocol', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    const [url = ''] = rpcUrls(branches)
    const asked = { query_prepared: `${branches.url}/q` }
    await dtm.node.post('prepare', message('message', [url], asked))
    expect(await dtm.node.post('submit', message('message', [url], { ...asked, ...RPC }))).toEqual(NOT_THERE)
    await dtm.node.post('prepare', tcc('tcc'))
    const urls = { confirm: url, cancel: `${branches.url}/x` }
    const branch = { gid: 'tcc', trans_type: 'tcc', branch_id: '01', data: '{}', ...urls }
    expect(await dtm.node.post('registerBranch', branch)).toEqual(OK)
    expect(await dtm.node.post('submit', tcc('tcc', RPC))).toEqual(NOT_THERE)
    for (const gid of ['message', 'tcc'])
      expect((await dtm.node.engine.get(gid as never))?.status).toBe('prepared')
    expect(branches.calls).toEqual([])
  })

  it('A branch is called as plain HTTP where DTM does that, too', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const waits = { wait_result: true }
    const noMethod = { action: `${branches.url}/METHOD?m=1` }
    expect(await dtm.node.post('submit', buildSaga('no-method', noMethod, { ...RPC, ...waits }))).toEqual(OK)
    const [action = ''] = rpcUrls(branches)
    expect(await dtm.node.post('submit', buildSaga('http', { action }, waits))).toEqual(OK)
    expect(branches.calls).toHaveLength(2)
  })
})

describe('a transaction of JSON-RPC that an older version has stored', () => {
  async function readOp(dtm: DtmFixture, gid: string) {
    return (await dtm.node.engine.get(gid as never))?.branches[0]?.ops[0]
  }

  it('A stored JSON-RPC transaction is not called, and its view says why', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    await storeOld(dtm, 'old', rpcUrls(branches)[0] ?? '')
    await until('it waits', UNTIL_MS_MAX, async () => (await readOp(dtm, 'old'))?.state === 'waiting')
    expect(await readOp(dtm, 'old')).toMatchObject({ result: 'unknown', error: 'json-rpc' })
    expect(branches.calls).toEqual([])
  })

  it('Mutant: without the check before the call it counts as done, though nothing was debited', async () => {
    const policy = loopbackTargets()
    const unguarded: Targets = { policy, check: (url) => policy.check(url), refuse: () => undefined }
    await using dtm = await openDtmFixture(unguarded)
    const branches = dtm.play({ '/rpc': [RPC_ERROR] })
    await storeOld(dtm, 'old', rpcUrls(branches)[0] ?? '')
    await until(
      'it ends',
      UNTIL_MS_MAX,
      async () => (await dtm.node.engine.get('old' as never))?.status === 'succeeded',
    )
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
