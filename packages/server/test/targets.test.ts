import type { LookupFunction } from 'node:net'
import { httpBranchCaller } from '@counterstep/branch-http'
import { classifyAddress, loopbackTargets, targetPolicy } from '@counterstep/branch-http/targets'
import type { BranchAnswer, CheckUrl } from '@counterstep/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildRealServer, type RealServer } from './real-server.ts'

const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }
const FAILURE: BranchAnswer = { result: 'failure', statusCode: 409 }
const loopback = loopbackTargets()
const checkLoopback: CheckUrl = (url) => loopback.check(url)
const GOOD = 'http://127.0.0.1:9001/x'
/** The first is not listed, the second is denied by its address, and the third is no service. */
const UNLISTED = ['https://bank.test/?token=secret', 'http://169.254.169.254/latest', 'other:/x']

async function post({ app }: RealServer, path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  return app.inject({
    method: 'POST',
    url: `/v1/transactions${path}`,
    headers,
    payload: JSON.stringify(body),
  })
}

/** Some parser could take each of these for the identity of a call (S39). */
const FORGING = [
  '?[gid]=secret&[trans_type]=saga&[branch_id]=debit&[op]=compensate',
  '?Op=secret',
  '?trans+type=secret',
  `?secret${'&'.repeat(1_001)}`,
].map((query) => `${GOOD}${query}`)

/** Tries each URL in every place where a URL is accepted. */
async function expectAllDenied(
  server: RealServer,
  urls = UNLISTED,
  code = 'SAGA_TARGET_NOT_ALLOWED',
): Promise<void> {
  expect((await post(server, '', { gid: 'trip', kind: 'tcc' })).statusCode).toBe(202)
  for (const url of urls) {
    const WAYS: readonly (readonly [string, unknown, string])[] = [
      ['', { branches: [{ action: GOOD }, { action: url }] }, '/branches/1/action'],
      ['', { branches: [{ action: GOOD, compensation: url }] }, '/branches/0/compensation'],
      ['', { kind: 'message', branches: [{ action: url }] }, '/branches/0/action'],
      ['', { kind: 'message', branches: [{ action: GOOD }], check: { url } }, '/check/url'],
      ['/trip/branches', { id: '01', confirm: url, cancel: GOOD }, '/confirm'],
      ['/trip/branches', { id: '01', confirm: GOOD, cancel: url }, '/cancel'],
    ]
    for (const [path, body, place] of WAYS) {
      const answer = await post(server, path, body)
      expect([answer.statusCode, answer.json()]).toEqual([
        422,
        expect.objectContaining({ code, path: place }),
      ])
      expect(answer.body).not.toContain('secret')
    }
  }
  const { items } = await server.engine.list({ limit: 10 })
  expect(items.map(({ gid }) => gid)).toEqual(['trip'])
  expect((await server.engine.get('trip' as never))?.branches).toEqual([])
  expect(server.calls).toEqual([])
}

describe('S1: a target', () => {
  it('A target that is not allowed is refused, wherever it stands, and nothing is stored', async () => {
    await using server = await buildRealServer(() => SUCCESS, checkLoopback)
    await expectAllDenied(server)
  })

  it('S39: A target whose query may pass for the identity of a call is refused, wherever it stands', async () => {
    await using server = await buildRealServer(() => SUCCESS, checkLoopback)
    await expectAllDenied(server, FORGING, 'SAGA_URL_INVALID')
  })

  it('S39: A target with a body or a header that may pass for the identity of a call is refused', async () => {
    await using server = await buildRealServer(() => SUCCESS, checkLoopback)
    const form = 'application/x-www-form-urlencoded'
    for (const branch of [
      { body: 'gid=victim&trans_type=saga&branch_id=debit&op=compensate', contentType: form },
      { body: 'a=1&op[]=compensate', contentType: `${form}; charset=utf-8` },
      { body: '', contentType: 'multipart/form-data; boundary=x' },
      { body: '{}', contentType: 'application/json; charset=utf-7' },
      { headers: { 'dtm-gid': 'victim' } },
      { headers: { counterstep_gid: 'victim' } },
      { headers: { 'X-Original-URL': '/debit-undo' } },
    ]) {
      const answer = await post(server, '', { branches: [{ action: GOOD, ...branch }] })
      expect([answer.statusCode, answer.json().code]).toEqual([422, 'SAGA_HEADER_INVALID'])
    }
    expect((await server.engine.list({ limit: 10 })).items).toEqual([])
  })

  it('S39: Mutant: without the check, the test of such queries fails', async () => {
    await using server = await buildRealServer(
      () => SUCCESS,
      () => undefined,
    )
    await expect(expectAllDenied(server, FORGING, 'SAGA_URL_INVALID')).rejects.toThrow()
  })

  it('Mutant: without the check, the test of targets that are not allowed fails', async () => {
    await using server = await buildRealServer(
      () => SUCCESS,
      () => undefined,
    )
    await expect(expectAllDenied(server)).rejects.toThrow()
  })

  it('A named service is stored as written, and shown without its query', async () => {
    const services = [{ name: 'bank', origin: 'http://10.0.0.5', hostname: '10.0.0.5', base: '' }]
    const named = targetPolicy({ services, allowed: [], others: 'none', isLocal: false })
    await using server = await buildRealServer(
      () => SUCCESS,
      (url) => named.check(url),
    )
    const url = 'bank:/debit?x=1'
    expect((await post(server, '', { gid: 'a', branches: [{ action: url }] })).statusCode).toBe(202)
    await expect.poll(() => server.calls.map((call) => call.url)).toEqual([url])
    const shown = await server.app.inject({ url: '/v1/transactions/a' })
    expect(shown.json().branches[0].ops[0].url).toBe('bank:/debit')
  })
})

/** The real caller makes the connections; the test provides the name server and the table of addresses. */
describe('S4: a call that is denied by its address', () => {
  // These classes stand for 127.0.0.2 as a metadata service and 127.0.0.1 as another machine. No server listens there;
  // the test answers the calls that are let through.
  const readClass = (text: string) =>
    text === '127.0.0.2' ? 'never' : text === '127.0.0.1' ? 'public' : classifyAddress(text)
  const free = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true }, readClass)

  /** The name bank.test has the address that the test gives, and every other name has 127.0.0.1. */
  async function buildServer(bank: { address: string }) {
    const lookup: LookupFunction = (hostname, _options, callback) => {
      const address = hostname === 'bank.test' ? bank.address : '127.0.0.1'
      callback(null, [{ address, family: 4 }])
    }
    const caller = httpBranchCaller({ targets: free, lookup })
    onTestFinished(() => caller.close())
    return buildRealServer(
      async (call) => {
        const answer = await caller.call(call)
        if (answer.error !== 'refused') return answer
        return call.url.endsWith('/no') ? FAILURE : SUCCESS
      },
      (url) => free.check(url),
    )
  }

  const retry = { initialMs: 10, capMs: 20, factor: 1, jitter: 0 }
  const bank = 'http://bank.test:1/x'

  it('S4: A denied call is no failure: it is shown, asked again, and done once the name has another address', async () => {
    const at = { address: '127.0.0.2' }
    await using server = await buildServer(at)
    await post(server, '', { gid: 'a', retry, branches: [{ action: bank, compensation: bank }] })
    const read = async () => (await server.app.inject({ url: '/v1/transactions/a' })).json()
    await expect.poll(() => server.calls.length, { timeout: 10_000 }).toBeGreaterThan(3)
    const shown = await read()
    expect(shown.status).toBe('submitted')
    expect(JSON.stringify(shown)).toContain('denied-address')
    expect(JSON.stringify(shown)).not.toContain('127.0.0')
    at.address = '127.0.0.1'
    await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe('succeeded')
  })

  it('S4: A denied compensation needs attention, because it cannot be given up', async () => {
    const at = { address: '127.0.0.2' }
    await using server = await buildServer(at)
    const branches = [{ action: 'http://a.test:1/', compensation: bank }, { action: 'http://b.test:1/no' }]
    await post(server, '', { gid: 'a', retry, branches })
    const read = async () => (await server.app.inject({ url: '/v1/transactions/a' })).json()
    await expect
      .poll(async () => (await read()).attention ?? '', { timeout: 10_000 })
      .toBe('compensation of branch 01 failed 10 times')
    at.address = '127.0.0.1'
    await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe('failed')
  })
})
