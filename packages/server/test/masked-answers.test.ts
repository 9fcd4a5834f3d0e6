import type { BranchAnswer, BranchCall } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { canary, findCanaries } from '@counterstep/test-servers/canary'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { CONSOLE_OPERATIONS, DEV_OPERATIONS, OPERATIONS } from '../src/operations.ts'
import { buildRealServer, LIVE, type RealServer } from './real-server.ts'

const HEADERS = { authorization: canary('header-of-all') }
const OWN = { headers: { 'x-api-key': canary('header-of-branch') } }
/** Returns URLs with a secret in their query, in the spellings that a URL may have. */
const buildUrls = (place: string) => {
  const secret = canary(`query-of-${place}`)
  return [
    `http://bank.test/a?token=${secret}`,
    `http://bank.test?${secret}`,
    `HTTP://bank.test/?a?b=${secret}&c=%3F${secret}`,
    `http://bank.test/a%3Fb?/${secret}/../${secret}`,
  ]
}
const URL_COUNT = 4
const WAIT = { id: 'approved', wait: { signal: 'approval' } }

interface Sent {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly body?: unknown
}

/** Returns requests for each operation of the native API, on transactions of each kind whose headers and queries are secrets. */
function buildRequests(turn: number): Readonly<Record<string, readonly Sent[]>> {
  const at = (place: string) => buildUrls(place)[turn] ?? ''
  const post = (path: string, body?: unknown): Sent => ({
    method: 'POST',
    url: `/v1/transactions${path}`,
    body,
  })
  const postTo = (url: string, body?: unknown): Sent => ({ method: 'POST', url, body })
  const get = (url: string): Sent => ({ method: 'GET', url })
  const saga = {
    branches: [{ action: at('action'), compensation: at('compensation'), ...OWN }],
    headers: HEADERS,
  }
  const message = { kind: 'message', branches: [{ action: at('message'), ...OWN }], headers: HEADERS }
  const registration = { id: '01', confirm: at('confirm'), cancel: at('cancel'), ...OWN }
  const gids = ['saga', 'late', 'tcc', 'message', 'checked'].map((gid) => `${gid}-${turn}`)
  const [sagaGid, lateGid, tccGid, messageGid, checkedGid] = gids
  return {
    submitTransaction: [
      post('', { ...saga, gid: sagaGid }),
      post('', { ...saga, gid: lateGid, delayMs: 3_600_000 }),
      post('', { gid: tccGid, kind: 'tcc', headers: HEADERS }),
      post('', { ...message, gid: messageGid }),
      post('', { ...message, gid: checkedGid, check: { url: at('check'), afterMs: 3_600_000 } }),
      // These have the same gid with other content, and contents that are refused.
      post('', { ...saga, gid: sagaGid, delayMs: 1 }),
      post('', { branches: [{ action: `${at('refused')}#${canary('fragment')}` }] }),
      post('', { branches: [{ action: `http://u:${canary('login')}@bank.test/` }] }),
      post('', {
        ...saga,
        branches: [{ ...saga.branches[0], headers: { 'x-a': `a\r\n${canary('line')}` } }],
      }),
      post('', { ...saga, branches: [{ ...saga.branches[0], headers: { cookie: canary('reserved') } }] }),
    ],
    registerBranch: [
      post(`/${tccGid}/branches`, registration),
      post(`/${tccGid}/branches`, { ...registration, headers: { 'x-a': canary('other') } }),
      post(`/${sagaGid}/branches`, registration),
    ],
    signalTransaction: [
      post('', { gid: `waits-${turn}`, branches: [{ ...saga.branches[0], action: at('action') }, WAIT] }),
      post(`/waits-${turn}/signals/approval`, { id: 'a', payload: canary('signal') }),
      post(`/waits-${turn}/signals/approval`, { id: 'a', payload: canary('signal-again') }),
      post(`/waits-${turn}/signals/other`, { id: 'b', payload: canary('signal-unknown') }),
      post(`/waits-${turn}/signals/approval`, { id: 'a b', payload: canary('signal-refused') }),
    ],
    listTransactions: [
      get('/v1/transactions?limit=200'),
      get(`/v1/transactions?cursor=${canary('cursor')}`),
      get('/v1/transactions?order=due'),
      get(`/v1/transactions?tag=${canary('tag')}`),
    ],
    showRequest: gids.map((gid) => get(`/v1/transactions/${gid}/request`)),
    getTransaction: [...gids, `waits-${turn}`, 'unknown'].map((gid) =>
      get(`/v1/transactions/${gid}?x=${canary('query-of-get')}`),
    ),
    submitPrepared: [post(`/${tccGid}/submit`), post(`/${sagaGid}/submit`)],
    editOp: [
      post(`/${lateGid}/ops/01/action/edit`, { reason: 'moved', url: at('edit'), headers: OWN.headers }),
      post(`/${lateGid}/ops/01/action/edit`, {
        reason: 'moved',
        url: `${at('edit')}#${canary('edit-refused')}`,
      }),
    ],
    abortTransaction: [post(`/${lateGid}/abort`), post(`/${checkedGid}/abort`), post(`/${messageGid}/abort`)],
    retryTransaction: gids.map((gid) => post(`/${gid}/retry`)),
    listProblems: [get('/v1/problems')],
    retryOp: gids.map((gid) => post(`/${gid}/ops/01/action/retry`, { reason: 'why' })),
    previewCommand: gids.map((gid) => post(`/${gid}/preview`, { command: 'retry' })),
    skipOp: gids.map((gid) =>
      post(`/${gid}/ops/01/action/skip`, { reason: 'done', doneBy: 'service', answer: canary('skip') }),
    ),
    pauseTransaction: gids.map((gid) => post(`/${gid}/pause`)),
    resumeTransaction: gids.map((gid) => post(`/${gid}/resume`)),
    stopTransaction: gids.map((gid) => post(`/${gid}/stop`, { reason: 'over' })),
    startBulk: [postTo('/v1/bulk', { command: 'retry', gids, reason: 'why' })],
    listBulk: [get('/v1/bulk')],
    showBulk: [get('/v1/bulk/aaaaaaaaaaaaaaaa')],
    pauseBulk: [postTo('/v1/bulk/aaaaaaaaaaaaaaaa/pause')],
    resumeBulk: [postTo('/v1/bulk/aaaaaaaaaaaaaaaa/resume')],
    cancelBulk: [postTo('/v1/bulk/aaaaaaaaaaaaaaaa/cancel')],
    getSession: [get('/v1/session')],
    getOverview: [get('/v1/overview')],
    getServices: [get('/v1/services')],
    getNames: [get('/v1/names')],
    listViews: [get('/v1/views')],
    saveView: [
      postTo('/v1/views', { name: 'waits', filter: 'retrying=true' }),
      postTo('/v1/views', { name: 'no', filter: `tag=${canary('view')}` }),
    ],
    removeView: [{ method: 'DELETE', url: `/v1/views/${canary('view-id')}` }],
    listPanels: [get('/v1/panels')],
    getPanel: [get(`/v1/panels/${canary('panel')}`)],
    getLive: [get(`/v1/live?topics=overview,fresh&gid=${gids.join('&gid=')}`)],
    getRoot: [get('/')],
    getLiveness: [get('/health/live')],
    getReadiness: [get('/health/ready')],
    getMetrics: [get('/metrics')],
    getOpenApi: [get('/openapi.json')],
    getDocs: [get('/docs/')],
  }
}

async function readAnswers(app: FastifyInstance, requests: readonly Sent[]): Promise<string> {
  const texts: string[] = []
  for (const { method, url, body } of requests) {
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await app.inject({ method, url, headers, ...payload })
    texts.push(`${answer.statusCode} ${JSON.stringify(answer.headers)} ${answer.body}`)
  }
  return texts.join('\n')
}

/** Gives every answer that a branch may give, so that every field of a view is filled. */
function play({ op, attempt }: BranchCall): BranchAnswer {
  if (op === 'action' && attempt === 1) return { result: 'unknown', error: 'timeout' }
  if (op === 'action') return { result: 'failure', statusCode: 409, excerpt: 'no' }
  return attempt === 1 ? { result: 'ongoing', statusCode: 425 } : { result: 'success', statusCode: 200 }
}

async function drive(server: RealServer, app = server.app): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {}
  for (let turn = 0; turn < URL_COUNT; turn++) {
    for (const [id, requests] of Object.entries(buildRequests(turn)))
      answers[id] = `${answers[id] ?? ''}${await readAnswers(app, requests)}\n`
  }
  return answers
}

describe('S43: headers and URL queries', () => {
  it('S43: Headers and URL queries are in no answer of the native API, whatever the route, the kind and the spelling', async () => {
    await using server = await buildRealServer(play)
    // Only this route shows them, to keys with the scope payloads.
    const { showRequest: shown, ...answers } = await drive(server)
    // This server has no console, and is not `counterstep dev`.
    const driven = OPERATIONS.filter((each) => !CONSOLE_OPERATIONS.has(each) && !DEV_OPERATIONS.has(each))
    expect(['showRequest', ...Object.keys(answers)].sort()).toEqual(driven.map(({ id }) => id).sort())
    expect(findCanaries(answers)).toEqual([])
    expect(shown).toContain(canary('query-of-action'))
    // This shows that the requests did what they are for: the URLs are shown, and the branches got what was sent.
    expect(answers.getTransaction).toContain('"url":"http://bank.test/a"')
    for (const id of ['submitTransaction', 'registerBranch', 'abortTransaction', 'stopTransaction'])
      expect([id, answers[id]]).toEqual([id, expect.stringMatching(/^20[02] .*"url":"http:/m)])
    expect(server.calls.some(({ url }) => url.includes(canary('query-of-action')))).toBe(true)
  })

  it('S43: This test finds a header or query that a view shows (mutant)', async () => {
    await using server = await buildRealServer(play)
    const { engine } = server
    const [whole] = buildUrls('action')
    const show: EngineApi['show'] = async (gid) => {
      const view = await engine.show(gid)
      return view && JSON.parse(JSON.stringify(view).replaceAll('http://bank.test/a"', `${whole}"`))
    }
    const showing = new Proxy<EngineApi>(engine, {
      get(target, name) {
        if (name === 'show') return show
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const { showRequest: _, ...answers } = await drive(server, buildApp({ engine: showing, live: LIVE }))
    expect(findCanaries(answers)).toEqual([expect.stringContaining('getTransaction: ')])
  })
})
