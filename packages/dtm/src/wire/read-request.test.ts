import { describe, expect, it } from 'vitest'
import { readRequest } from './read-request.ts'

const S = 'json: cannot unmarshal'
const REFUSED = [
  ['[]', `${S} array into Go value of type dtmsvr.TransGlobal`],
  ['true', `${S} bool into Go value of type dtmsvr.TransGlobal`],
  ['{"gid":5}', `${S} number into Go struct field TransGlobal.TransGlobalStore.gid of type string`],
  ...(['5', '{}', '[]', 'true'] as const).map(
    (status) =>
      [
        `{"gid":"g","status":${status}}`,
        'into Go struct field TransGlobal.TransGlobalStore.status of type string',
      ] as const,
  ),
  [
    '{"steps":[5]}',
    `${S} number into Go struct field TransGlobal.TransGlobalStore.steps of type map[string]string`,
  ],
  [
    '{"retry_interval":1.0}',
    `${S} number 1.0 into Go struct field TransGlobal.TransGlobalStore.TransOptions.retry_interval of type int64`,
  ],
  [
    '{"timeout_to_fail":1e3}',
    `${S} number 1e3 into Go struct field TransGlobal.TransGlobalStore.TransOptions.timeout_to_fail of type int64`,
  ],
  ['{"req_extra":[]}', `${S} array into Go struct field TransGlobal.req_extra of type map[string]string`],
] as const

describe('readRequest', () => {
  for (const [body, message] of REFUSED) {
    it(`The request reader refuses ${body} with Go's message`, () => {
      expect(() => readRequest(body)).toThrow(message)
    })
  }

  it('A field that is missing or null gets its zero value', () => {
    const zero = readRequest('{}')
    expect(zero).toMatchObject({ gid: '', trans_type: '', steps: [], payloads: [], wait_result: false })
    const nulls = Object.keys(zero).map((key) => `"${key}":null`)
    expect(readRequest(`{${nulls.join(',')}}`)).toEqual(zero)
    expect(readRequest('null')).toEqual(zero)
  })

  it('The last of keys counts that are equal but for their letter case', () => {
    expect(readRequest('{"gid":"a","GID":"b","Gid":"c"}').gid).toBe('c')
    expect(readRequest('{"GID":"b","gid":"a","nonsense":{"gid":"x"}}').gid).toBe('a')
  })

  it('No key reaches a prototype', () => {
    const { branch_headers } = readRequest('{"__proto__":{"gid":"x"},"branch_headers":{"__proto__":"x"}}')
    expect(Object.entries(branch_headers)).toEqual([['__proto__', 'x']])
    expect(Object.getPrototypeOf(branch_headers)).toBe(Object.prototype)
  })

  it('A gid loses its carriage returns, line feeds and semicolons', () => {
    expect(readRequest(JSON.stringify({ gid: ';a\r\n;b' })).gid).toBe('ab')
  })
})
