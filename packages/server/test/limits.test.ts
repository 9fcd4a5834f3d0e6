import type { AddressInfo } from 'node:net'
import {
  BODY_BYTES_MAX,
  BRANCHES_MAX,
  DEADLINE_MS_MAX,
  GID_LENGTH_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
  SIGNAL_BYTES_MAX,
} from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { buildRealServer } from './real-server.ts'

const BRANCH = { action: 'http://127.0.0.1:9001/a' }
const HEADER_BYTES_MAX = 16 * 1024

interface Limit {
  readonly name: string
  /** Builds a submit with that much of it. */
  readonly submit: (amount: number) => string
  readonly max: number
  readonly status: number
  readonly code: string
}

const LIMITS: readonly Limit[] = [
  {
    name: 'bytes of the body',
    submit: (bytes) => JSON.stringify({ branches: [BRANCH] }).padEnd(bytes, ' '),
    max: BODY_BYTES_MAX,
    status: 413,
    code: 'SAGA_BODY_TOO_LARGE',
  },
  {
    name: 'branches',
    submit: (count) => JSON.stringify({ branches: Array(count).fill(BRANCH) }),
    max: BRANCHES_MAX,
    status: 422,
    code: 'SAGA_TOO_MANY_BRANCHES',
  },
  {
    name: "bytes of a branch's payload",
    // The payload counts as JSON, with its two quotes.
    submit: (bytes) => JSON.stringify({ branches: [{ ...BRANCH, payload: 'x'.repeat(bytes - 2) }] }),
    max: PAYLOAD_BYTES_MAX,
    status: 422,
    code: 'SAGA_PAYLOAD_TOO_LARGE',
  },
  {
    name: 'levels of JSON',
    // The body, its list of branches and the branch are three levels.
    submit: (depth) =>
      JSON.stringify({
        branches: [{ ...BRANCH, payload: JSON.parse('['.repeat(depth - 3) + ']'.repeat(depth - 3)) }],
      }),
    max: JSON_DEPTH_MAX,
    status: 422,
    code: 'SAGA_PAYLOAD_TOO_DEEP',
  },
  {
    name: 'characters of the gid',
    submit: (length) => JSON.stringify({ gid: 'g'.repeat(length), branches: [BRANCH] }),
    max: GID_LENGTH_MAX,
    status: 400,
    code: 'SAGA_GID_INVALID',
  },
  {
    name: 'milliseconds to the deadline',
    submit: (deadlineMs) => JSON.stringify({ deadlineMs, branches: [BRANCH] }),
    max: DEADLINE_MS_MAX,
    status: 422,
    code: 'SAGA_DEADLINE_INVALID',
  },
]

async function sendSubmit(payload: string) {
  await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200 }))
  const answer = await server.app.inject({
    method: 'POST',
    url: '/v1/transactions',
    headers: { 'content-type': 'application/json' },
    payload,
  })
  const { items } = await server.engine.list({ limit: 10 })
  return { status: answer.statusCode, code: answer.json().code, stored: items.length }
}

describe('S17: a submit', () => {
  for (const { name, submit, max, status, code } of LIMITS) {
    it(`A submit may have ${max} ${name}, and with one more is answered with ${status} ${code} and not stored`, async () => {
      expect(await sendSubmit(submit(max))).toEqual({ status: 202, code: undefined, stored: 1 })
      expect(await sendSubmit(submit(max + 1))).toEqual({ status, code, stored: 0 })
    })
  }

  for (const gid of [
    '',
    ' ',
    'a b',
    'a"b',
    "a'b",
    'a\\b',
    'a;b',
    '.',
    '..',
    'a\n',
    'ä',
    'a\u0000',
    'a\u007f',
  ]) {
    it(`A submit must not have the gid ${JSON.stringify(gid)}`, async () => {
      const outcome = await sendSubmit(JSON.stringify({ gid, branches: [BRANCH] }))
      expect(outcome).toEqual({ status: 400, code: 'SAGA_GID_INVALID', stored: 0 })
    })
  }

  it(`A submit may have less than ${HEADER_BYTES_MAX} bytes of headers, and with that many is answered with 431 and not stored`, async () => {
    await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200 }))
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = server.app.server.address() as AddressInfo
    const send = (bytes: number) =>
      fetch(`http://127.0.0.1:${port}/v1/transactions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-long': 'x'.repeat(bytes) },
        body: JSON.stringify({ branches: [BRANCH] }),
      })
    const over = await send(HEADER_BYTES_MAX)
    expect([over.status, await over.json()]).toEqual([
      431,
      expect.objectContaining({ code: 'SAGA_HEADER_INVALID' }),
    ])
    expect((await server.engine.list({ limit: 10 })).items).toEqual([])
    expect((await send(HEADER_BYTES_MAX - 1_024)).status).toBe(202)
  })
})

describe('S17: a signal', () => {
  it('The body of a signal has room for the largest payload written as escapes, and a larger body is not looked at', async () => {
    await using server = await buildRealServer(() => ({ result: 'success', statusCode: 200 }))
    const sendTo = (path: string, payload: string) =>
      server.app.inject({
        method: 'POST',
        url: `/v1/transactions${path}`,
        headers: { 'content-type': 'application/json' },
        payload,
      })
    const branches = [{ id: 'approved', wait: { signal: 'approval' } }]
    expect((await sendTo('', JSON.stringify({ gid: 'waits', branches }))).statusCode).toBe(202)
    // The payload counts as JSON, with its two quotes.
    const largest = `{"id":"a","payload":"${'\\u0061'.repeat(SIGNAL_BYTES_MAX - 2)}"}`
    const send = (bytes: number) => sendTo('/waits/signals/approval', largest.padEnd(bytes, ' '))
    expect((await send(128 * 1024)).json()).toMatchObject({ state: 'taken' })
    const over = await send(128 * 1024 + 1)
    expect([over.statusCode, over.json().code]).toEqual([413, 'SAGA_BODY_TOO_LARGE'])
  })
})
