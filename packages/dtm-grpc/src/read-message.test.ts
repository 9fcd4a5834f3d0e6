import { describe, expect, it } from 'vitest'
import type { DtmRequestMessage } from './messages.ts'
import { readRegistration, readRequest } from './read-message.ts'

const EMPTY: DtmRequestMessage = {
  Gid: '',
  TransType: '',
  TransOptions: null,
  CustomedData: '',
  BinPayloads: [],
  QueryPrepared: '',
  Steps: '',
  ReqExtra: [],
  RollbackReason: '',
}
const OPTIONS = {
  WaitResult: true,
  TimeoutToFail: '1',
  RetryInterval: '2',
  BranchHeaders: [{ key: 'x-a', value: 'b' }],
  RequestTimeout: '3',
  RetryLimit: '4',
}

describe('a message as a request', () => {
  for (const [field, message, expected] of [
    ['TransType', { TransType: 'saga' }, { trans_type: 'saga' }],
    ['a gid with signs that are taken away over HTTP', { Gid: 'a;b' }, { gid: 'a;b' }],
    ['Steps', { Steps: '[{"action":"a","compensate":"c"}]' }, { steps: [{ action: 'a', compensate: 'c' }] }],
    ['no Steps', {}, { steps: [] }],
    [
      'BinPayloads',
      { BinPayloads: [Buffer.from([255, 0])] },
      { payloads: ['/wA='], hasBinaryPayloads: true },
    ],
    ['CustomedData', { CustomedData: '{"concurrent":true}' }, { custom_data: '{"concurrent":true}' }],
    ['QueryPrepared', { QueryPrepared: 'h:1/a.B/C' }, { query_prepared: 'h:1/a.B/C' }],
    ['RollbackReason', { RollbackReason: 'late' }, { rollback_reason: 'late' }],
    ['ReqExtra', { ReqExtra: [{ key: 'status', value: 'succeed' }] }, { req_extra: { status: 'succeed' } }],
    [
      'a key that comes twice',
      {
        ReqExtra: [
          { key: 'result', value: '1' },
          { key: 'result', value: '2' },
          { key: 'unread', value: '3' },
        ],
      },
      { req_extra: { result: '2' } },
    ],
    ['the protocol', {}, { protocol: 'grpc' }],
    ['no TransOptions', {}, { wait_result: false, timeout_to_fail: 0, branch_headers: {} }],
    [
      'TransOptions',
      { TransOptions: OPTIONS },
      {
        wait_result: true,
        timeout_to_fail: 1,
        retry_interval: 2,
        request_timeout: 3,
        retry_limit: 4,
        branch_headers: { 'x-a': 'b' },
      },
    ],
  ] as readonly (readonly [string, Partial<DtmRequestMessage>, object])[])
    it(`The request has ${field}`, () =>
      expect(readRequest({ ...EMPTY, ...message })).toMatchObject(expected))

  it('A number of 64 bits that no bound would take is refused', () => {
    const TransOptions = { ...OPTIONS, RetryLimit: '9223372036854775807' }
    expect(() => readRequest({ ...EMPTY, TransOptions })).toThrow('of type int64')
  })

  it('Steps that are no JSON are refused', () => {
    expect(() => readRequest({ ...EMPTY, Steps: '{' })).toThrow('unexpected end of JSON input')
    expect(() => readRequest({ ...EMPTY, Steps: '[5]' })).toThrow('map[string]string')
  })

  it('The fields of a registration win over its data, and no key reaches a prototype', () => {
    const registration = readRegistration({
      Gid: 'g',
      TransType: 'tcc',
      BranchID: '01',
      Op: 'try',
      Data: [
        { key: 'gid', value: 'forged' },
        { key: '__proto__', value: 'x' },
        { key: 'confirm', value: 'h:1/a.B/C' },
      ],
      BusiPayload: Buffer.alloc(0),
    })
    expect(registration).toMatchObject({
      gid: 'g',
      trans_type: 'tcc',
      branch_id: '01',
      op: 'try',
      confirm: 'h:1/a.B/C',
    })
    expect(Object.getPrototypeOf(registration)).toBe(Object.prototype)
  })
})
