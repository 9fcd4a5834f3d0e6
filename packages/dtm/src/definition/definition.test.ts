import { loopbackTargets } from '@counterstep/branch-http/targets'
import { describe, expect, it } from 'vitest'
import { AnsweredError } from '../wire/answer.ts'
import type { Registration } from '../wire/read-registration.ts'
import { type DtmRequest, readRequest } from '../wire/read-request.ts'
import { readSagaOrder } from './custom-data.ts'
import { buildMessageDefinition } from './message-definition.ts'
import { type Note, readNote, writeNote } from './note.ts'
import { buildSagaDefinition } from './saga-definition.ts'
import { buildSubmission, readWaitMs } from './submission.ts'
import { buildTccDefinition, buildXaBranch } from './two-phase-definition.ts'

const URL = 'http://127.0.0.1/x'
const targets = loopbackTargets()
const check = (url: string) => targets.check(url)

function request(more: object = {}): DtmRequest {
  const steps = [1, 2, 3].map((step) => ({ action: `${URL}/a${step}`, compensate: `${URL}/c${step}` }))
  return readRequest(JSON.stringify({ gid: 'g', steps, payloads: ['1', '2', '3'], ...more }))
}

describe('the policy of retries', () => {
  const POLICIES = [
    [{}, { initialMs: 10_000, capMs: 60_000, limit: null }],
    [{ retry_interval: 1 }, { initialMs: 1_000, capMs: 60_000, limit: null }],
    [{ retry_interval: 300 }, { initialMs: 300_000, capMs: 300_000, limit: null }],
    [
      { retry_interval: -1, retry_limit: -1 },
      { initialMs: 10_000, capMs: 60_000, limit: null },
    ],
    // DTM's limit does not count the first call, and ours does.
    [{ retry_limit: 3 }, { initialMs: 200, capMs: 60_000, limit: 4 }],
    [
      { retry_limit: 3, retry_interval: 2 },
      { initialMs: 2_000, capMs: 60_000, limit: 4 },
    ],
  ] as const
  for (const [options, policy] of POLICIES) {
    it(`The retry policy of ${JSON.stringify(options)} is capped and drawn`, () => {
      expect(buildSagaDefinition(request(options), { checkUrl: check }).retry).toEqual({
        ...policy,
        factor: 2,
        jitter: 1,
      })
    })
  }
})

describe('the spans', () => {
  it("The time spans are DTM's own where the request names none", async () => {
    expect(buildSagaDefinition(request(), { checkUrl: check })).toMatchObject({
      timeoutMs: 3_000,
      wordsCount: true,
    })
    expect(buildSagaDefinition(request(), { checkUrl: check })).not.toHaveProperty('deadlineMs')
    expect(buildTccDefinition(request(), { checkUrl: check })).toMatchObject({ deadlineMs: 35_000 })
    const message = await buildMessageDefinition(request(), 'prepared', {
      checkUrl: check,
      findSubscribers: async () => [],
    })
    expect(message.check).toMatchObject({ afterMs: 35_000 })
  })

  it('The time spans are those of the request', async () => {
    const options = { request_timeout: 7, timeout_to_fail: 9, custom_data: '{"delay":5}' }
    expect(buildSagaDefinition(request(options), { checkUrl: check })).toMatchObject({
      timeoutMs: 7_000,
      deadlineMs: 9_000,
    })
    const message = await buildMessageDefinition(request(options), 'submitted', {
      checkUrl: check,
      findSubscribers: async () => [],
    })
    expect(message).toMatchObject({ delayMs: 5_000 })
    expect(message).not.toHaveProperty('check')
    expect(readWaitMs(request(options))).toBe(6_500)
  })

  it('A time span is refused that is longer than a transaction is kept', () => {
    expect(() => buildTccDefinition(request({ timeout_to_fail: 31 * 86_400 }), { checkUrl: check })).toThrow(
      AnsweredError,
    )
  })
})

describe('the order of a saga', () => {
  const after = (custom_data: string) =>
    buildSagaDefinition(request({ custom_data }), { checkUrl: check }).branches.map((branch) => branch.after)

  it('The steps of a saga run one after the other unless custom_data says concurrent', () => {
    expect(after('')).toEqual([[], [0], [1]])
    expect(after('{"concurrent":false,"orders":{"0":[2]}}')).toEqual([[], [0], [1]])
    expect(
      buildSagaDefinition(request({ concurrent: true }), { checkUrl: check }).branches.map(
        (branch) => branch.after,
      ),
    ).toEqual([[], [0], [1]])
  })

  it('S27: The order has each position of a list once, so that a long list is not walked for each step', () => {
    const { orders } = readSagaOrder(`{"concurrent":true,"orders":{"1":[${'0,'.repeat(5_000)}0]}}`)
    expect(orders.get(1)).toEqual([0])
  })

  it('The order of a concurrent saga is that of `orders`, by positions from 0', () => {
    expect(after('{"concurrent":true}')).toEqual([[], [], []])
    expect(after('{"Concurrent":true,"orders":{"0":[2,1,2],"1":null}}')).toEqual([[2, 1], [], []])
  })
})

describe('the branches', () => {
  it("Branches are called with the headers of the request, which win over DTM's own", () => {
    const headers = { 'X-A': 'a', 'content-TYPE': 'text/plain' }
    expect(
      buildSagaDefinition(request({ branch_headers: headers }), { checkUrl: check }).branches[0],
    ).toMatchObject({
      contentType: 'text/plain',
      headers: { 'x-a': 'a', accept: 'text/plain' },
    })
  })

  const BAD_HEADERS = [{ 'a b': '1' }, { a: 'x\r\nb: y' }, { Host: 'x' }, { Cookie: 'x' }, { 'Proxy-X': 'x' }]
  for (const branch_headers of BAD_HEADERS) {
    it(`Branches are refused with the headers ${JSON.stringify(branch_headers)}`, () => {
      expect(() => buildSagaDefinition(request({ branch_headers }), { checkUrl: check })).toThrow(
        AnsweredError,
      )
    })
  }

  const BAD_URLS = [
    'localhost:58080/busi.Busi/TransIn',
    'ftp://x/y',
    'http://',
    'http://u:p@x/',
    `${URL}/${'x'.repeat(2_048)}`,
  ]
  for (const action of BAD_URLS) {
    it(`Branches are refused with the URL ${action.slice(0, 40)}`, () => {
      expect(() => buildSagaDefinition(request({ steps: [{ action }] }), { checkUrl: check })).toThrow(
        AnsweredError,
      )
    })
  }

  it('A topic gives one branch for each subscriber, and the id shows the subscriber when there are several', async () => {
    const steps = [{ action: 'topic://one' }, { action: `${URL}/plain` }, { action: 'topic://two' }]
    const subscribers: Readonly<Record<string, readonly string[]>> = {
      one: [`${URL}/1`],
      two: [`${URL}/2`, `${URL}/3`],
    }
    const { branches } = await buildMessageDefinition(request({ steps }), 'submitted', {
      checkUrl: check,
      findSubscribers: async (topic) => subscribers[topic] ?? [],
    })
    expect(branches.map(({ id, action, body }) => [id, action, body])).toEqual([
      ['01', `${URL}/1`, '1'],
      ['02', `${URL}/plain`, '2'],
      ['03-01', `${URL}/2`, '3'],
      ['03-02', `${URL}/3`, '3'],
    ])
  })

  it('The branches of a topic are refused when their payloads together are more than a request may hold', async () => {
    const urls = Array.from({ length: 50 }, (_, position) => `${URL}/${position}`)
    const body = { steps: [{ action: 'topic://many' }], payloads: ['x'.repeat(50_000)] }
    await expect(
      buildMessageDefinition(request(body), 'submitted', {
        checkUrl: check,
        findSubscribers: async () => urls,
      }),
    ).rejects.toThrow(AnsweredError)
  })

  it.each([
    ['their number is over the bound', 101, 'a', 'more than 100 branches'],
    ['their payloads are over the bound', 60, 'x'.repeat(20_000), 'the payloads of all branches are over'],
  ])('No payload of a topic is looked at once %s', async (_what, count, payload, message) => {
    const urls = Array.from({ length: count }, (_, position) => `${URL}/${position}`)
    const steps = [{ action: 'topic://many' }, { action: URL }]
    const branch_headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const build = (first: string) =>
      buildMessageDefinition(request({ steps, payloads: [first, 'gid=1'], branch_headers }), 'submitted', {
        checkUrl: check,
        findSubscribers: async () => urls,
      })
    await expect(build(payload)).rejects.toThrow(message)
    await expect(build(count > 100 ? 'gid=1' : payload)).rejects.toThrow(message)
  })

  it('Branch ids have three digits from the hundredth on, and a branch more is refused', () => {
    const many = (count: number) => {
      const steps = Array.from({ length: count }, () => ({ action: URL }))
      return request({ steps, payloads: steps.map(() => '') })
    }
    const ids = buildSagaDefinition(many(100), { checkUrl: check }).branches.map(({ id }) => id)
    expect([ids[0], ids[98], ids[99]]).toEqual(['01', '99', '100'])
    expect(() => buildSagaDefinition(many(101), { checkUrl: check })).toThrow(AnsweredError)
  })
})

describe('branches over gRPC', () => {
  const checks = { checkUrl: check, checkGrpc: (target: string) => targets.checkGrpc(target) }
  const TARGET = '127.0.0.1:58080/bank.Bank/Debit'
  const binary = (text: string) => Buffer.from(text, 'latin1').toString('base64')
  const build = (steps: DtmRequest['steps'], more: Partial<DtmRequest> = {}) =>
    buildSagaDefinition(
      { ...request({ steps, payloads: steps.map(() => 'a') }), protocol: 'grpc', ...more },
      checks,
    )

  it('A branch over gRPC is stored with its scheme and its bytes in base64, under a mark that older servers leave alone', () => {
    const saga = build([{ action: TARGET }], { payloads: [binary('\u00ff\u0000')], hasBinaryPayloads: true })
    expect(saga.callsGrpc).toBe(true)
    expect(saga.branches[0]).toMatchObject({
      action: `grpc://${TARGET}`,
      body: binary('\u00ff\u0000'),
      contentType: 'application/grpc',
    })
  })

  it('A payload that came as text is a message of its UTF-8 bytes', () => {
    expect(build([{ action: TARGET }]).branches[0]?.body).toBe(Buffer.from('a').toString('base64'))
  })

  it('A branch over HTTP keeps its text and needs no mark, in whatever way its request came', () => {
    const saga = build([{ action: URL }], { payloads: [binary('{}')], hasBinaryPayloads: true })
    expect(saga).not.toHaveProperty('callsGrpc')
    expect(saga.branches[0]).toMatchObject({ action: URL, body: '{}', contentType: 'application/json' })
  })

  for (const [what, step, more] of [
    ['URLs of both kinds', { action: TARGET, compensate: URL }, {}],
    [
      'a payload for HTTP that is no UTF-8',
      { action: URL },
      { payloads: [binary('\u00ff')], hasBinaryPayloads: true },
    ],
    ['a URL with the scheme of gRPC', { action: `grpc://${TARGET}` }, {}],
    ['no port', { action: '127.0.0.1/bank.Bank/Debit' }, {}],
    ['a target that is not allowed', { action: '10.0.0.1:1/bank.Bank/Debit' }, {}],
    ['another protocol', { action: TARGET }, { protocol: 'http' }],
    ['a payload over the bound', { action: TARGET }, { payloads: ['x'.repeat(200 * 1_024)] }],
  ] as readonly (readonly [string, Readonly<Record<string, string>>, Partial<DtmRequest>])[])
    it(`A step with ${what} is refused`, () => expect(() => build([step], more)).toThrow())

  it('Payloads that are over the bound together once they are base64 are refused', () => {
    const steps = Array.from({ length: 6 }, () => ({ action: TARGET }))
    expect(() => build(steps, { payloads: steps.map(() => 'x'.repeat(170 * 1_024)) })).toThrow(/over 1048576/)
  })

  it('A TCC of the protocol has the mark before its branches are known, if they may be called so', () => {
    const tcc = { ...request(), protocol: 'grpc' }
    expect(buildTccDefinition(tcc, checks).callsGrpc).toBe(true)
    expect(buildTccDefinition(tcc, { checkUrl: check })).not.toHaveProperty('callsGrpc')
    expect(buildTccDefinition(request(), checks)).not.toHaveProperty('callsGrpc')
  })

  it('A message whose query-back goes over gRPC has the mark', async () => {
    const asked = { ...request({ query_prepared: TARGET }), protocol: 'grpc' }
    const message = await buildMessageDefinition(asked, 'prepared', {
      ...checks,
      findSubscribers: async () => [],
    })
    expect(message).toMatchObject({ callsGrpc: true, check: { url: `grpc://${TARGET}` } })
  })
})

describe('the note', () => {
  it('The note of a DTM transaction is read as it was written', () => {
    const usual: Note = {
      ticket: 't',
      request: 'r',
      options: '{}',
      protocol: 'http',
      queryPrepared: '',
      customData: '',
      retryIntervalS: 10,
      waitResult: false,
      waitMs: 8_000,
      contentType: 'application/json',
      isStepless: false,
    }
    const unusual: Note = {
      ...usual,
      protocol: 'grpc',
      queryPrepared: URL,
      customData: '{"a":1}',
      waitResult: true,
      contentType: 'text/plain',
      isStepless: true,
    }
    for (const note of [usual, unusual])
      expect(
        readNote({ ...buildTccDefinition(request(), { checkUrl: check }), note: writeNote(note) }),
      ).toEqual(note)
  })

  it('A note of another HTTP API is not read as one of DTM', () => {
    expect(
      readNote({ ...buildTccDefinition(request(), { checkUrl: check }), note: 'other {}' }),
    ).toBeUndefined()
    expect(readNote(buildTccDefinition(request(), { checkUrl: check }))).toBeUndefined()
  })
})

describe('the content of a submission', () => {
  const toContent = (more: object, ticket = 't') =>
    buildSubmission('g' as never, request(more), buildSagaDefinition(request(), { checkUrl: check }), ticket)
      .content

  it('The content of a submission is the same when only the way of asking differs', () => {
    expect(toContent({ wait_result: true, status: 'succeed' })).toBe(toContent({}))
    expect(toContent({ payloads: ['1', '2', '4'] })).not.toBe(toContent({}))
  })

  it('The content of a submission differs for each ticket', () => {
    expect(toContent({}, 'u')).not.toBe(toContent({}))
  })
})

describe('a branch of XA', () => {
  const build = (registration: Registration) =>
    buildXaBranch(registration, { checkUrl: check, protocol: 'http' })

  it('A branch of XA without a URL is refused, since nothing could call it', () => {
    for (const registration of [{}, { url: '' }]) {
      expect(() => build({ branch_id: '01', ...registration })).toThrow('needs its url')
    }
    expect(build({ branch_id: '01', url: URL })).toMatchObject({ id: '01', url: URL })
  })
})
