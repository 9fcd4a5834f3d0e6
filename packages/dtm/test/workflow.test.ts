/** DTM's own workflows. Its Go client panics in its user's process when it gets JSON that is no workflow, so errors are no JSON. */
import { createGate, readBearerOrBasicKey } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildDtmApp } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'
import type { PlayedBranches } from './support/branch-service.ts'
import { openDtmFixture } from './support/dtm-fixture.ts'
import { tcc, tccBranch } from './support/requests.ts'

const PATH = '/api/dtmsvr/prepareWorkflow'
const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
/** DTM's Go client reads the body in this way, with any status. */
const asGo = (body: string): unknown => JSON.parse(body)

async function ask(options: InjectOptions, keyless = true) {
  const keys = { find: () => undefined }
  const app = buildDtmApp({
    engine: { isStopping: false } as unknown as EngineApi,
    topics: {} as TopicStore,
    checkUrl: () => undefined,
    gate: createGate({ credentials: readBearerOrBasicKey, ...(keyless ? {} : { keys: keys as never }) }),
  })
  try {
    const { statusCode, headers, body } = await app.inject({ method: 'POST', url: PATH, ...options })
    return { status: statusCode, type: headers['content-type'], body }
  } finally {
    await app.close()
  }
}

function workflow(gid: string, branches: PlayedBranches, more: object = {}) {
  const custom_data = JSON.stringify({ name: 'order/ä', data: Buffer.from('{"a":1}').toString('base64') })
  const query_prepared = `${branches.url}/resume`
  return { gid, trans_type: 'workflow', custom_data, query_prepared, protocol: 'http', ...more }
}

function step(gid: string, more: object = {}) {
  return { gid, trans_type: 'workflow', branch_id: '01', op: 'action', status: 'succeed', data: 'r', ...more }
}

function ending(gid: string, req_extra: object) {
  return { gid, trans_type: 'workflow', req_extra }
}

describe('a workflow of DTM', () => {
  it('One whose data is not base64 is refused and not stored', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({})
    const custom_data = '{"name":"n","data":"a-b"}'
    const answer = await dtm.node.post('prepareWorkflow', workflow('w', branches, { custom_data }))
    expect(answer.body).toContain('data is not in base64')
    expect(await dtm.node.engine.get('w' as never)).toBeUndefined()
  })

  it.each([
    ['a form that has a name of our own', 'application/x-www-form-urlencoded', 'op=fast'],
    ['of another charset', 'application/json; charset=utf-16', '{}'],
  ])(
    'One whose data is %s could not be called back, and is refused and not stored',
    async (_what, type, text) => {
      await using dtm = await openDtmFixture()
      const branches = dtm.play({})
      const custom_data = JSON.stringify({ name: 'n', data: Buffer.from(text).toString('base64') })
      const headers = { branch_headers: { 'content-type': type } }
      const answer = await dtm.node.post(
        'prepareWorkflow',
        workflow('w', branches, { custom_data, ...headers }),
      )
      expect(answer).toMatchObject({ status: 500, body: expect.stringContaining('custom_data: the data ') })
      expect(await dtm.node.engine.get('w' as never)).toBeUndefined()
    },
  )

  it('Its client is called back by the name of the workflow until it says how it has ended', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play({ '/resume': [{ status: 409, body: 'FAILURE' }, { status: 200 }] })
    const body = workflow('w', branches, { retry_interval: 1, branch_headers: { 'x-own': 'yes' } })
    expect((await dtm.node.post('prepareWorkflow', body)).status).toBe(200)
    await branches.waitForCalls(2)
    const [call] = branches.calls
    const [path, query] = call?.target.split('?') ?? []
    expect([call?.method, path, call?.body]).toEqual(['POST', '/resume', '{"a":1}'])
    expect(query).toBe('gid=w&trans_type=workflow&branch_id=00&op=order%2F%C3%A4')
    expect(call?.headers).toContainEqual(['x-own', 'yes'])
    expect((await dtm.node.engine.get('w' as never))?.status).toBe('prepared')
    expect(await dtm.node.post('submit', ending('w', { status: 'succeed', result: 'b2s=' }))).toEqual(OK)
    expect((await dtm.node.engine.get('w' as never))?.status).toBe('succeeded')
  })

  it('A client that begins again gets what it has reported, also if its callback has moved', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    await dtm.node.post('prepareWorkflow', workflow('w', branches))
    expect(await dtm.node.post('registerBranch', step('w'))).toEqual(OK)
    expect(await dtm.node.post('registerBranch', step('w', { op: 'commit', status: 'failed' }))).toEqual(OK)
    await dtm.restart()
    // A client that is called back names the same workflow and the data that it was given, perhaps in another place.
    const custom_data = '{"data":"eyJhIjoxfQ==","name":"order\\/\\u00e4"}'
    const query_prepared = `${branches.url}/moved`
    const moved = { custom_data, query_prepared, protocol: '', retry_interval: 1 }
    const again = await dtm.node.post('prepareWorkflow', workflow('w', branches, moved))
    const { progresses, transaction } = JSON.parse(again.body)
    expect(transaction).toMatchObject({ gid: 'w', trans_type: 'workflow', status: 'prepared' })
    expect(progresses).toMatchObject([
      { branch_id: '01', op: 'action', status: 'succeed', bin_data: 'cg==' },
      { branch_id: '01', op: 'commit', status: 'failed', bin_data: 'cg==' },
    ])
    const all = await dtm.node.get('all?transType=workflow')
    expect(JSON.parse(all.body).transactions).toMatchObject([{ gid: 'w' }])
  })

  it('No data and empty data are the same', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    for (const custom_data of ['{"data":null,"name":"n"}', '{"data":"","name":"n"}', '{"name":"n"}'])
      expect((await dtm.node.post('prepareWorkflow', workflow('w', branches, { custom_data }))).status).toBe(
        200,
      )
  })

  it.each([
    ['no custom_data', ''],
    ['another name', '{"name":"order","data":"eyJhIjoxfQ=="}'],
    ['other data', '{"name":"order/ä","data":"eyJhIjoyfQ=="}'],
    ['no data', '{"name":"order/ä"}'],
    ['data that cannot be read', '{"name":"order/ä","data":"eyJhIjoxfQ"}'],
  ])('Nothing of a workflow is shown to a request that has %s', async (_what, custom_data) => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    await dtm.node.post('prepareWorkflow', workflow('w', branches))
    await dtm.node.post('registerBranch', step('w', { data: 'secret' }))
    const other = { gid: 'w', trans_type: 'workflow', custom_data }
    for (const end of [undefined, ending('w', { status: 'succeed', result: 'c2VjcmV0' })]) {
      if (end !== undefined) await dtm.node.post('submit', end)
      const { status, body } = await dtm.node.post('prepareWorkflow', other)
      expect([status, body]).toEqual([
        500,
        expect.stringMatching(/taken by a workflow with other content|base64/),
      ])
    }
  })

  it('Reports and ends that come again change nothing, and others are refused', async () => {
    await using dtm = await openDtmFixture()
    await dtm.node.post('prepareWorkflow', workflow('w', dtm.play()))
    for (const expected of [OK, OK])
      expect(await dtm.node.post('registerBranch', step('w'))).toEqual(expected)
    const conflict = { status: 500, body: '{"message":"storage: UniqueKeyConflict"}' }
    expect(await dtm.node.post('registerBranch', step('w', { data: 'other' }))).toEqual(conflict)
    const failed = ending('w', { status: 'failed', rollback_reason: 'no funds' })
    for (const expected of [OK, OK]) expect(await dtm.node.post('submit', failed)).toEqual(expected)
    const notFound = { status: 500, body: '{"message":"storage: NotFound"}' }
    for (const extra of [
      { status: 'failed', rollback_reason: 'other' },
      { status: 'succeed', result: '' },
      { status: 'done' },
      {},
    ])
      expect(await dtm.node.post('submit', ending('w', extra)), JSON.stringify(extra)).toEqual(notFound)
    expect((await dtm.node.post('registerBranch', step('w', { branch_id: '02' }))).status).toBe(409)
    const shown = JSON.parse((await dtm.node.get('query?gid=w')).body)
    expect(shown.transaction).toMatchObject({ status: 'failed', rollback_reason: 'no funds' })
    expect(shown.branches).toHaveLength(1)
  })

  it('It is not aborted, and not taken for a transaction of another type, nor one of these for it', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    await dtm.node.post('prepareWorkflow', workflow('w', branches))
    for (const trans_type of ['workflow', 'tcc', 'msg'])
      expect((await dtm.node.post('abort', { gid: 'w', trans_type })).status).toBe(409)
    expect((await dtm.node.post('registerBranch', tccBranch('w', branches, '01'))).status).toBe(409)
    expect((await dtm.node.post('submit', tcc('w'))).status).toBe(500)
    expect((await dtm.node.engine.get('w' as never))?.status).toBe('prepared')
    await dtm.node.post('prepare', tcc('t'))
    expect((await dtm.node.post('prepareWorkflow', workflow('t', branches))).status).toBe(500)
    expect((await dtm.node.post('registerBranch', step('t'))).status).toBe(409)
    expect((await dtm.node.post('submit', ending('t', { status: 'succeed' }))).status).toBe(500)
    expect((await dtm.node.engine.get('t' as never))?.status).toBe('prepared')
    expect(await dtm.node.post('forceStop', { gid: 'w' })).toEqual(OK)
    expect((await dtm.node.post('submit', ending('w', { status: 'succeed' }))).status).toBe(500)
  })

  it('What could never be called back or told apart is refused, and nothing is stored', async () => {
    await using dtm = await openDtmFixture()
    const branches = dtm.play()
    const data = (bytes: Buffer | string) =>
      JSON.stringify({ name: 'n', data: Buffer.from(bytes).toString('base64') })
    const bad: readonly (readonly [object, number])[] = [
      [{ query_prepared: '' }, 500],
      [{ query_prepared: 'http://elsewhere.test/x' }, 500],
      [{ custom_data: '' }, 500],
      [{ custom_data: '{"name":1}' }, 500],
      [{ custom_data: '{' }, 500],
      [{ custom_data: data(Buffer.from([0xff])) }, 422],
      [{ custom_data: data('x'.repeat(256 * 1024 + 1)) }, 422],
      [{ custom_data: JSON.stringify({ name: 'n'.repeat(257) }) }, 422],
      [{ trans_type: 'saga' }, 500],
      [{ gid: 'a b' }, 422],
    ]
    for (const [more, status] of bad) {
      const answer = await dtm.node.post('prepareWorkflow', workflow('bad', branches, more))
      expect(answer.status, JSON.stringify(more).slice(0, 100)).toBe(status)
      expect(() => asGo(answer.body)).toThrow(SyntaxError)
    }
    expect(await dtm.node.engine.get('bad' as never)).toBeUndefined()
    await dtm.node.post('prepareWorkflow', workflow('w', branches))
    for (const [more, status] of [
      [{ status: 'done' }, 500],
      [{ op: '' }, 422],
      [{ op: 'a b' }, 422],
      [{ branch_id: '' }, 422],
      [{ data: 'x'.repeat(64 * 1024 + 1) }, 422],
    ] as const)
      expect((await dtm.node.post('registerBranch', step('w', more))).status).toBe(status)
    expect((await dtm.node.engine.get('w' as never))?.records).toEqual([])
  })
})

describe('prepareWorkflow', () => {
  const refused: readonly (readonly [string, number, InjectOptions, boolean])[] = [
    ['a call without a key', 401, { payload: '{}' }, false],
    ['a body that is too large', 413, { payload: 'x'.repeat(2 * 1024 * 1024) }, true],
    ['a page of another origin', 403, { payload: '{}', headers: { origin: 'http://evil.test' } }, true],
  ]
  for (const [what, status, options, keyless] of refused) {
    it(`The path prepareWorkflow refuses in plain text, too: ${what}`, async () => {
      const answer = await ask(options, keyless)
      expect([answer.status, answer.type]).toEqual([status, 'text/plain; charset=utf-8'])
      expect(() => asGo(answer.body)).toThrow(SyntaxError)
    })
  }
})
