import { readBearerOrBasicKey } from '@counterstep/access'
import { describe, expect, it } from 'vitest'
import { openGrpcFixture } from './support/grpc-fixture.ts'
import { GrpcService } from './support/grpc-service.ts'

const OPTIONS = { WaitResult: true, RetryInterval: '1', RequestTimeout: '5' }
const bytes = (text: string) => Buffer.from(text)

function saga(gid: string, service: GrpcService, more: object = {}) {
  return {
    Gid: gid,
    TransType: 'saga',
    TransOptions: OPTIONS,
    Steps: JSON.stringify([
      { action: service.target('Debit'), compensate: service.target('DebitUndo') },
      { action: service.target('Credit'), compensate: service.target('CreditUndo') },
    ]),
    BinPayloads: [bytes('\u0000one'), bytes('two')],
    ...more,
  }
}

/** A map goes over the wire as a list of its entries. */
function toEntries(map: Readonly<Record<string, string>>) {
  return Object.entries(map).map(([key, value]) => ({ key, value }))
}

const SAGA_METHODS = ['Debit', 'DebitUndo', 'Credit', 'CreditUndo']

describe("DTM's gRPC API", () => {
  it('A new gid has 22 characters', async () => {
    await using fixture = await openGrpcFixture()
    const { code, reply } = await fixture.client.call('NewGid', {})
    expect(code).toBe(0)
    expect(reply).toEqual({ Gid: expect.stringMatching(/^[2-9A-Za-z]{22}$/) })
  })

  it('A saga calls its actions with the bytes and the identity that DTM sends', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(SAGA_METHODS)
    const BranchHeaders = [{ key: 'x-tenant', value: 'blue' }]
    const options = { TransOptions: { ...OPTIONS, BranchHeaders } }
    expect(await fixture.client.call('Submit', saga('g-1', service, options))).toMatchObject({ code: 0 })
    expect(service.methods).toEqual(['Debit', 'Credit'])
    expect(service.calls.map(({ body }) => body)).toEqual(['\u0000one', 'two'])
    expect(service.calls[0]?.metadata).toMatchObject({
      'dtm-gid': 'g-1',
      'dtm-trans_type': 'saga',
      'dtm-branch_id': '01',
      'dtm-op': 'action',
      'dtm-dtm': '',
      'x-tenant': 'blue',
    })
    expect((await fixture.engine.show('g-1' as never))?.status).toBe('succeeded')
    expect(fixture.errors).toEqual([])
  })

  it('A saga whose second action is refused undoes both, and its client gets ABORTED with the reason', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(SAGA_METHODS, {
      Credit: [{ code: 10, details: 'no such account' }],
    })
    const outcome = await fixture.client.call('Submit', saga('g-2', service))
    expect(outcome).toMatchObject({
      code: 10,
      details: `url:${service.target('Credit')} return failed: no such account FAILURE`,
    })
    expect((await fixture.untilEnd('g-2')).status).toBe('failed')
    expect(service.methods).toEqual(['Debit', 'Credit', 'CreditUndo', 'DebitUndo'])
  })

  for (const { name, answer, calls } of [
    { name: 'FAILED_PRECONDITION', answer: { code: 9 }, calls: 2 },
    { name: 'ABORTED with the text ONGOING', answer: { code: 10, details: 'ONGOING' }, calls: 2 },
    { name: 'UNAVAILABLE', answer: { code: 14, details: 'FAILURE' }, calls: 2 },
    { name: 'a call that is never answered', answer: { hangs: true as const }, calls: 2 },
  ]) {
    it(`An action is asked again after ${name}`, async () => {
      await using fixture = await openGrpcFixture()
      await using service = await GrpcService.open(SAGA_METHODS, { Debit: [answer, {}] })
      const more = { TransOptions: { RetryInterval: '1', RequestTimeout: '1' } }
      expect(await fixture.client.call('Submit', saga('g-3', service, more))).toMatchObject({ code: 0 })
      expect((await fixture.untilEnd('g-3')).status).toBe('succeeded')
      expect(service.methods.filter((method) => method === 'Debit')).toHaveLength(calls)
    })
  }

  for (const { end, status, methods } of [
    { end: 'Submit', status: 'succeeded', methods: ['Confirm', 'Confirm'] },
    { end: 'Abort', status: 'failed', methods: ['Cancel', 'Cancel'] },
  ]) {
    it(`A TCC calls its branches with their payloads after ${end}, the newest first`, async () => {
      await using fixture = await openGrpcFixture()
      await using service = await GrpcService.open(['Confirm', 'Cancel'])
      const tcc = { Gid: 'g-4', TransType: 'tcc', TransOptions: { RetryInterval: '1' } }
      expect(await fixture.client.call('Prepare', tcc)).toMatchObject({ code: 0 })
      for (const BranchID of ['01', '02']) {
        const branch = {
          ...tcc,
          BranchID,
          Data: [
            { key: 'confirm', value: service.target('Confirm') },
            { key: 'cancel', value: service.target('Cancel') },
          ],
          BusiPayload: bytes(`to ${BranchID}`),
        }
        expect(await fixture.client.call('RegisterBranch', branch)).toMatchObject({ code: 0 })
      }
      expect(await fixture.client.call(end, tcc)).toMatchObject({ code: 0 })
      expect((await fixture.untilEnd('g-4')).status).toBe(status)
      expect(service.methods).toEqual(methods)
      expect(service.calls.map(({ body }) => body)).toEqual(['to 02', 'to 01'])
      expect(service.calls[0]?.metadata).toMatchObject({ 'dtm-trans_type': 'tcc', 'dtm-branch_id': '02' })
    })
  }

  for (const { answer, status, methods } of [
    { answer: {}, status: 'succeeded', methods: ['QueryPrepared', 'Credit'] },
    { answer: { code: 10 }, status: 'failed', methods: ['QueryPrepared'] },
  ]) {
    it(`A message whose sender is gone is asked for over gRPC, and is then ${status}`, async () => {
      await using fixture = await openGrpcFixture()
      await using service = await GrpcService.open(['QueryPrepared', 'Credit'], { QueryPrepared: [answer] })
      const message = {
        Gid: 'g-5',
        TransType: 'msg',
        TransOptions: { TimeoutToFail: '1', RetryInterval: '1' },
        QueryPrepared: service.target('QueryPrepared'),
        Steps: JSON.stringify([{ action: service.target('Credit') }]),
        BinPayloads: [bytes('30')],
      }
      expect(await fixture.client.call('Prepare', message)).toMatchObject({ code: 0 })
      expect((await fixture.untilEnd('g-5')).status).toBe(status)
      expect(service.methods).toEqual(methods)
      expect(service.calls[0]?.metadata).toMatchObject({ 'dtm-op': 'msg', 'dtm-branch_id': '00' })
    })
  }

  it('A message reaches the subscribers of its topic, which subscribed over gRPC', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(['Credit', 'Audit'])
    for (const method of ['Credit', 'Audit']) {
      const topic = { Topic: 'paid', URL: service.target(method), Remark: method }
      expect(await fixture.client.call('Subscribe', topic)).toMatchObject({ code: 0 })
    }
    const message = {
      Gid: 'g-6',
      TransType: 'msg',
      TransOptions: OPTIONS,
      Steps: JSON.stringify([{ action: 'topic://paid' }]),
      BinPayloads: [bytes('30')],
    }
    expect(await fixture.client.call('Submit', message)).toMatchObject({ code: 0 })
    expect(service.methods).toEqual(['Credit', 'Audit'])
    const last = { Topic: 'paid', URL: service.target('Credit') }
    expect(await fixture.client.call('Unsubscribe', last)).toMatchObject({ code: 0 })
    expect(await fixture.client.call('DeleteTopic', { Topic: 'paid' })).toMatchObject({ code: 0 })
    expect(await fixture.client.call('Submit', { ...message, Gid: 'g-7' })).toMatchObject({
      code: 13,
      details: 'topic not found',
    })
  })

  for (const [name, message, code, details] of [
    ['Abort', { Gid: 'none', TransType: 'tcc' }, 13, 'no TransGlobal with gid: none found'],
    ['Submit', { Gid: 'g', TransType: 'nonsense' }, 13, 'unknow trans type: nonsense'],
    ['Submit', { Gid: 'a b', TransType: 'saga' }, 3, 'gid must'],
    ['Submit', { Gid: 'g', TransType: 'saga', Steps: '[' }, 2, 'unexpected end of JSON input'],
    [
      'Submit',
      { Gid: 'g', TransType: 'saga', Steps: '[{"action":"10.0.0.1:1/a.B/C"}]', BinPayloads: [bytes('')] },
      2,
      'SAGA_TARGET_NOT_ALLOWED',
    ],
    [
      'RegisterBranch',
      { Gid: 'none', TransType: 'tcc', BranchID: '01' },
      10,
      'no trans with gid: none status: prepared found FAILURE',
    ],
    [
      'Submit',
      { Gid: 'g', TransType: 'saga', TransOptions: { BranchHeaders: [{ key: 'dtm-gid', value: 'forged' }] } },
      13,
      'dtm-gid is not sent to a branch',
    ],
    ['PrepareWorkflow', { Gid: 'g', TransType: 'workflow' }, 13, 'a workflow has no name'],
    ['PrepareWorkflow', { Gid: 'g', TransType: 'saga' }, 13, 'not a workflow'],
    [
      'Submit',
      { Gid: 'none', TransType: 'workflow', ReqExtra: toEntries({ status: 'succeed' }) },
      13,
      'storage: NotFound',
    ],
  ] as const) {
    it(`${name} of ${JSON.stringify(message).slice(0, 60)} is answered with code ${code}`, async () => {
      await using fixture = await openGrpcFixture()
      const outcome = await fixture.client.call(name, message)
      expect(outcome).toMatchObject({ code, details: expect.stringContaining(details) })
      expect(fixture.errors).toEqual([])
    })
  }

  it('A workflow is called back with its data and its name until its client says how it has ended', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(['Resume'])
    const workflow = {
      ...{ Gid: 'g-9', TransType: 'workflow', TransOptions: { RetryInterval: '1' } },
      QueryPrepared: service.target('Resume'),
      CustomedData: JSON.stringify({ name: 'order', data: Buffer.from('x'.repeat(200)).toString('base64') }),
    }
    const { reply } = await fixture.client.call('PrepareWorkflow', workflow)
    expect(reply).toMatchObject({ Transaction: { Gid: 'g-9', Status: 'prepared' }, Progresses: [] })
    const step = { Gid: 'g-9', TransType: 'workflow', BranchID: '01', BusiPayload: Buffer.from([0, 0xff]) }
    const reported = { ...step, Data: toEntries({ op: 'action', status: 'succeed' }) }
    expect(await fixture.client.call('RegisterBranch', reported)).toMatchObject({ code: 0 })
    await service.waitForCalls(1)
    // The message has one field, 1, and its length in two bytes, of which the first one is no UTF-8.
    expect(service.calls[0]?.body).toBe(`\n\ufffd\u0001${'x'.repeat(200)}`)
    expect(service.calls[0]?.metadata).toMatchObject({
      'dtm-gid': 'g-9',
      'dtm-trans_type': 'workflow',
      'dtm-branch_id': '00',
      'dtm-op': 'order',
    })
    const ReqExtra = toEntries({ status: 'succeed', result: 'b2s=' })
    expect(await fixture.client.call('Submit', { ...workflow, ReqExtra })).toMatchObject({ code: 0 })
    const again = await fixture.client.call('PrepareWorkflow', workflow)
    expect(again.reply).toMatchObject({
      Transaction: { Status: 'succeed', Result: 'b2s=' },
      Progresses: [{ BranchID: '01', Op: 'action', Status: 'succeed', BinData: Buffer.from([0, 0xff]) }],
    })
    const other = await fixture.client.call('PrepareWorkflow', { Gid: 'g-9', TransType: 'workflow' })
    expect(other).toMatchObject({ code: 13, details: expect.stringMatching('a workflow with other content') })
  })

  it('A branch of an http URL in a transaction over gRPC is called over HTTP', async () => {
    await using fixture = await openGrpcFixture()
    const outcome = await fixture.client.call('Submit', {
      Gid: 'g-8',
      TransType: 'saga',
      Steps: JSON.stringify([{ action: 'http://127.0.0.1:9/a', compensate: '127.0.0.1:9/a.B/C' }]),
      BinPayloads: [bytes('{}')],
    })
    expect(outcome).toMatchObject({ code: 3, details: expect.stringContaining('both over HTTP') })
  })

  it('The health is told to callers without a key, and reflection is not', async () => {
    await using fixture = await openGrpcFixture({
      gate: { keys: { find: () => undefined } as never, credentials: readBearerOrBasicKey },
    })
    expect(await fixture.client.call('Check', { service: 'dtmgimp.Dtm' })).toMatchObject({
      code: 0,
      reply: { status: 'SERVING' },
    })
    expect(await fixture.client.call('Check', { service: 'other' })).toMatchObject({ code: 5 })
    expect(await fixture.client.call('NewGid', {})).toMatchObject({ code: 16 })
  })
})
