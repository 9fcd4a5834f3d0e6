import type { AddressInfo } from 'node:net'
import {
  BODY_BYTES_MAX,
  BRANCHES_MAX,
  DEADLINE_MS_MAX,
  GID_LENGTH_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
} from '@counterstep/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DtmFixture, openDtmFixture } from './support/dtm-fixture.ts'

const HEADER_BYTES_MAX = 16 * 1024
const STEP = { action: '', compensate: '' }

let dtm: DtmFixture
let count = 0
beforeAll(async () => {
  dtm = await openDtmFixture()
})
afterAll(() => dtm[Symbol.asyncDispose]())

function saga(gid: string, parts: object = {}): string {
  return JSON.stringify({ gid, trans_type: 'saga', steps: [STEP], payloads: ['{}'], ...parts })
}

interface Limit {
  readonly name: string
  /** Builds a submit with that much of it. */
  readonly submit: (gid: string, amount: number) => string
  readonly max: number
  readonly status: number
}

const LIMITS: readonly Limit[] = [
  {
    name: 'bytes of the body',
    submit: (gid, bytes) => saga(gid).padEnd(bytes, ' '),
    max: BODY_BYTES_MAX,
    status: 413,
  },
  {
    name: 'steps',
    submit: (gid, steps) => saga(gid, { steps: Array(steps).fill(STEP), payloads: Array(steps).fill('{}') }),
    max: BRANCHES_MAX,
    status: 422,
  },
  {
    name: "bytes of a step's payload",
    submit: (gid, bytes) => saga(gid, { payloads: ['x'.repeat(bytes)] }),
    max: PAYLOAD_BYTES_MAX,
    status: 422,
  },
  {
    name: 'levels of JSON',
    // The levels stand in a field that is not read; the body itself is a level.
    submit: (gid, depth) => saga(gid, { unread: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)) }),
    max: JSON_DEPTH_MAX,
    status: 422,
  },
  {
    name: 'seconds to the deadline',
    submit: (gid, timeout_to_fail) => saga(gid, { timeout_to_fail }),
    max: DEADLINE_MS_MAX / 1_000,
    status: 422,
  },
]

async function submitted(gid: string, body: string) {
  const { status } = await dtm.node.post('submit', body)
  const shown = JSON.parse((await dtm.node.get(`query?gid=${encodeURIComponent(gid)}`)).body)
  return { status, isStored: shown.transaction != null }
}

describe("S17: a submit to DTM's HTTP API", () => {
  for (const { name, submit, max, status } of LIMITS) {
    it(`A submit may have ${max} ${name}, and with one more is answered with ${status} and not stored`, async () => {
      const [within, over] = [`limit-${++count}`, `limit-${++count}`]
      expect(await submitted(within, submit(within, max))).toEqual({ status: 200, isStored: true })
      expect(await submitted(over, submit(over, max + 1))).toEqual({ status, isStored: false })
    })
  }

  it(`A submit may have a gid of ${GID_LENGTH_MAX} characters, and with one more is answered with 422 and not stored`, async () => {
    const gid = 'g'.repeat(GID_LENGTH_MAX)
    expect(await submitted(gid, saga(gid))).toEqual({ status: 200, isStored: true })
    expect(await submitted(`${gid}g`, saga(`${gid}g`))).toEqual({ status: 422, isStored: false })
  })

  for (const gid of [
    'alert-attention-27228c815b9df747-1995245',
    '',
    'a b',
    'a"b',
    "a'b",
    'a\\b',
    '.',
    '..',
    'ä',
    'a\u0000',
  ]) {
    it(`A submit must not have the gid ${JSON.stringify(gid)}`, async () => {
      expect((await dtm.node.post('submit', saga(gid))).status).toBe(422)
    })
  }

  it(`A TCC may have ${BRANCHES_MAX} branches, and one more is answered with 422`, async () => {
    const gid = 'limit-tcc'
    expect((await dtm.node.post('prepare', JSON.stringify({ gid, trans_type: 'tcc' }))).status).toBe(200)
    const register = (branch: number) =>
      dtm.node.post(
        'registerBranch',
        JSON.stringify({
          gid,
          trans_type: 'tcc',
          branch_id: `b${branch}`,
          data: '{}',
          confirm: '',
          cancel: '',
        }),
      )
    for (let branch = 0; branch < BRANCHES_MAX; branch += 1) expect((await register(branch)).status).toBe(200)
    expect((await register(BRANCHES_MAX)).status).toBe(422)
  })

  it(`A submit may have less than ${HEADER_BYTES_MAX} bytes of headers, and with that many is answered with 431`, async () => {
    await dtm.node.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = dtm.node.app.server.address() as AddressInfo
    const send = (gid: string, bytes: number) =>
      fetch(`http://127.0.0.1:${port}/api/dtmsvr/submit`, {
        method: 'POST',
        headers: { 'x-long': 'x'.repeat(bytes) },
        body: saga(gid),
      })
    expect((await send('limit-headers', HEADER_BYTES_MAX)).status).toBe(431)
    expect(JSON.parse((await dtm.node.get('query?gid=limit-headers')).body).transaction).toBeNull()
    expect((await send('limit-headers', HEADER_BYTES_MAX - 1_024)).status).toBe(200)
  })
})
