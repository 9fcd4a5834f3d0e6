import {
  BRANCH_ID_LENGTH_MAX,
  PAYLOAD_BYTES_MAX,
  TIMEOUT_MS_MAX,
  URL_LENGTH_MAX,
} from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RETRY } from '../../test/sagas.ts'
import { checkUrl } from '../../test/submissions.ts'
import { FAULTS_MAX } from './faults.ts'
import { parseRegistration } from './parse-registration.ts'

const GOOD = { id: 'b-1', confirm: 'http://bank.test/confirm', cancel: 'http://bank.test/cancel' }

function parse(body: unknown) {
  return parseRegistration(body, { retry: RETRY }, checkUrl)
}

function listFaults(body: unknown): readonly string[] {
  const parsed = parse(body)
  return parsed.type === 'parsed' ? [] : parsed.faults.map(({ code, path }) => `${code} ${path}`)
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

describe('a registration', () => {
  it('A registration gets defaults for the fields it leaves out', () => {
    expect(parse(GOOD)).toEqual({
      type: 'parsed',
      branch: { ...GOOD, body: '{}', contentType: 'application/json', headers: {} },
    })
  })

  it('A registration keeps all its fields', () => {
    const full = { ...GOOD, payload: { amount: 3 }, timeoutMs: 5, headers: { 'X-Tenant': 'blue' } }
    expect(parse({ ...full, retry: { initialMs: 7 } })).toMatchObject({
      branch: {
        body: '{"amount":3}',
        timeoutMs: 5,
        headers: { 'x-tenant': 'blue' },
        retry: { ...RETRY, initialMs: 7 },
      },
    })
    expect(parse({ ...GOOD, body: 'text', contentType: 'text/csv' })).toMatchObject({
      branch: { body: 'text', contentType: 'text/csv' },
    })
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'SAGA_INVALID '],
    ['a list', [], 'SAGA_INVALID '],
    ['a text', 'x', 'SAGA_INVALID '],
    ['no id', { ...GOOD, id: undefined }, 'SAGA_BRANCH_ID_INVALID /id'],
    ['an id that is null', { ...GOOD, id: null }, 'SAGA_BRANCH_ID_INVALID /id'],
    ['an empty id', { ...GOOD, id: '' }, 'SAGA_BRANCH_ID_INVALID /id'],
    ['a long id', { ...GOOD, id: 'x'.repeat(BRANCH_ID_LENGTH_MAX + 1) }, 'SAGA_BRANCH_ID_INVALID /id'],
    ['no confirm', { ...GOOD, confirm: undefined }, 'SAGA_URL_INVALID /confirm'],
    ['no cancel', { ...GOOD, cancel: undefined }, 'SAGA_URL_INVALID /cancel'],
    ['an empty cancel', { ...GOOD, cancel: '' }, 'SAGA_URL_INVALID /cancel'],
    ['a confirm that is no URL', { ...GOOD, confirm: 'file:///etc' }, 'SAGA_URL_INVALID /confirm'],
    [
      'a long URL',
      { ...GOOD, confirm: `http://a/${'x'.repeat(URL_LENGTH_MAX)}` },
      'SAGA_URL_INVALID /confirm',
    ],
    ['a field of a saga', { ...GOOD, action: 'http://a/' }, 'SAGA_UNKNOWN_FIELD /action'],
    ['an order', { ...GOOD, after: [] }, 'SAGA_UNKNOWN_FIELD /after'],
    ['a gid', { ...GOOD, gid: 'x' }, 'SAGA_UNKNOWN_FIELD /gid'],
    ['body and payload', { ...GOOD, body: '', payload: 1 }, 'SAGA_INVALID /body'],
    ['a type without a body', { ...GOOD, contentType: 'a/b' }, 'SAGA_INVALID /contentType'],
    ['half a pair', { ...GOOD, body: '\ud800' }, 'SAGA_INVALID /body'],
    ['a large body', { ...GOOD, body: 'x'.repeat(PAYLOAD_BYTES_MAX + 1) }, 'SAGA_PAYLOAD_TOO_LARGE /body'],
    ['a deep payload', { ...GOOD, payload: nested(40) }, 'SAGA_PAYLOAD_TOO_DEEP '],
    ['a bottomless payload', { ...GOOD, payload: nested(200_000) }, 'SAGA_PAYLOAD_TOO_DEEP '],
    ['no time', { ...GOOD, timeoutMs: 0 }, 'SAGA_TIMEOUT_INVALID /timeoutMs'],
    ['too long a time', { ...GOOD, timeoutMs: TIMEOUT_MS_MAX + 1 }, 'SAGA_TIMEOUT_INVALID /timeoutMs'],
    ['a reserved header', { ...GOOD, headers: { Host: 'x' } }, 'SAGA_HEADER_INVALID /headers/Host'],
    ['a header with a line', { ...GOOD, headers: { a: 'b\r\nc: d' } }, 'SAGA_HEADER_INVALID /headers/a'],
    ['a retry that is none', { ...GOOD, retry: 5 }, 'SAGA_RETRY_INVALID /retry'],
  ])('with %s is refused', (_, body, fault) => {
    expect(listFaults(body)).toContain(fault)
  })

  it('A registration of any JSON gives a branch or faults, never an exception', () => {
    const hostile = fc.record(
      {
        id: fc.oneof(fc.string(), fc.jsonValue()),
        confirm: fc.oneof(fc.constant(GOOD.confirm), fc.jsonValue()),
        cancel: fc.oneof(fc.constant(GOOD.cancel), fc.jsonValue()),
        payload: fc.jsonValue(),
        body: fc.jsonValue(),
        contentType: fc.jsonValue(),
        retry: fc.jsonValue(),
        timeoutMs: fc.jsonValue(),
        headers: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        other: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(hostile, fc.jsonValue()), (body) => {
        const parsed = parse(JSON.parse(JSON.stringify(body)))
        if (parsed.type === 'parsed')
          expect(JSON.parse(JSON.stringify(parsed.branch))).toEqual({
            ...parsed.branch,
            headers: { ...parsed.branch.headers },
          })
        else expect(parsed.faults.length).toBeLessThanOrEqual(FAULTS_MAX)
      }),
      { numRuns: 1_000 },
    )
  })
})
