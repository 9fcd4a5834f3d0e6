import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DtmFixture, openDtmFixture } from './support/dtm-fixture.ts'

const LONG = '<'.repeat(900_000)
const LONG_NAME = 'x'.repeat(450_000)
const DIGITS = '9'.repeat(900_000)
const SAGA = { gid: 'a', trans_type: 'saga', steps: [{ action: '', compensate: '' }], payloads: ['{}'] }
const MESSAGE = { gid: 'm', trans_type: 'msg', steps: [{ action: '' }], payloads: ['{}'] }

let dtm: DtmFixture
beforeAll(async () => {
  dtm = await openDtmFixture()
})
afterAll(() => dtm[Symbol.asyncDispose]())

it.each([
  ['the gid of an unknown transaction', 'abort', { gid: LONG, trans_type: 'tcc' }, 500],
  ['the gid of a registration', 'registerBranch', { gid: LONG, trans_type: 'tcc', branch_id: '01' }, 409],
  [
    'the gid of a step',
    'registerBranch',
    { gid: LONG, trans_type: 'workflow', branch_id: '01', op: 'action', status: 'succeed' },
    409,
  ],
  ['a name that no header has', 'submit', { ...SAGA, branch_headers: { [LONG]: '1' } }, 500],
  [
    'the name of a header that is reserved',
    'submit',
    { ...SAGA, branch_headers: { [`dtm-${LONG_NAME}`]: '1' } },
    500,
  ],
  [
    'the name of a header that is given twice',
    'submit',
    { ...SAGA, branch_headers: { [`x${LONG_NAME}`]: '1', [`X${LONG_NAME}`]: '1' } },
    500,
  ],
  [
    'a key of orders',
    'submit',
    { ...SAGA, custom_data: JSON.stringify({ concurrent: true, orders: { [LONG]: [] } }) },
    500,
  ],
  [
    'a number of orders',
    'submit',
    { ...SAGA, custom_data: `{"concurrent":true,"orders":{"0":[${DIGITS}]}}` },
    500,
  ],
  ['a delay', 'submit', { ...MESSAGE, custom_data: `{"delay":${DIGITS}}` }, 500],
] as const)('S17: A refusal repeats little of %s', async (_, command, request, status) => {
  const answer = await dtm.node.post(command, request)
  expect([answer.status, answer.body.slice(0, 300)]).toEqual([
    status,
    expect.stringMatching(/<|u003c|xxx|999/),
  ])
  expect(answer.body.length).toBeLessThan(2_000)
})

it('S17: A refusal repeats little of what should be a number in a query', async () => {
  const { status, body } = await dtm.node.get(`all?limit=${'x'.repeat(14_000)}`)
  expect(status).toBe(500)
  expect(body.length).toBeLessThan(2_000)
})
