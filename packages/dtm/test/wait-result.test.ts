/** A caller of `wait_result` is held no longer than something may come, and never until it gives up itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readWaitMs } from '../src/definition/submission.ts'
import { readRequest } from '../src/wire/read-request.ts'
import { type Answered, type DtmFixture, openDtmFixture } from './support/dtm-fixture.ts'
import { message, saga, tcc, tccBranch } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }
const ONGOING = { status: 425, body: '{"dtm_result":"ONGOING","message":"ONGOING"}' }
/** A client that names no timeout gives up after 8 s or later. */
const WAIT_MS = 7_500
const WAITS = { wait_result: true }

async function timed(
  work: Promise<Answered>,
): Promise<{ readonly answer: Answered; readonly tookMs: number }> {
  const startedAt = performance.now()
  const answer = await work
  return { answer, tookMs: performance.now() - startedAt }
}

describe.concurrent('a caller who waits for the result', () => {
  let dtm: DtmFixture
  beforeAll(async () => {
    dtm = await openDtmFixture()
  })
  afterAll(() => dtm[Symbol.asyncDispose]())

  const idle: readonly (readonly [string, (dtm: DtmFixture) => Promise<Answered>])[] = [
    [
      'a saga whose action is asked again in 10 s',
      ({ node, play }) => node.post('submit', saga('unknown', play({ '/a1': [{ status: 500 }] }), 1, WAITS)),
    ],
    [
      'a saga whose action is ongoing',
      ({ node, play }) => node.post('submit', saga('ongoing', play({ '/a1': [{ status: 425 }] }), 1, WAITS)),
    ],
    [
      'a message with a delay of 5,000 s',
      ({ node, play }) =>
        node.post('submit', message('delayed', [play().url], { ...WAITS, custom_data: '{"delay":5000}' })),
    ],
    [
      'the same message once more',
      async ({ node, play }) => {
        const body = message('again', [play().url], { ...WAITS, custom_data: '{"delay":5000}' })
        await node.post('submit', body)
        return await node.post('submit', body)
      },
    ],
    [
      'a TCC whose confirm is asked again in 10 s',
      async ({ node, play }) => {
        const branches = play({ '/confirm01': [{ status: 500 }] })
        await node.post('prepare', tcc('tcc'))
        await node.post('registerBranch', tccBranch('tcc', branches, '01'))
        return await node.post('submit', tcc('tcc', WAITS))
      },
    ],
    [
      'the abort of a TCC whose cancel is asked again in 10 s',
      async ({ node, play }) => {
        const branches = play({ '/cancel01': [{ status: 500 }] })
        await node.post('prepare', tcc('cancelled', WAITS))
        await node.post('registerBranch', tccBranch('cancelled', branches, '01'))
        return await node.post('abort', tcc('cancelled'))
      },
    ],
  ]
  for (const [what, ask] of idle) {
    it(`A caller is told at once that the transaction goes on: ${what}`, async () => {
      const { answer, tookMs } = await timed(ask(dtm))
      expect(answer).toEqual(ONGOING)
      expect(tookMs).toBeLessThan(WAIT_MS / 2)
    })
  }

  it('A caller waits for a retry that comes in time', async () => {
    const branches = dtm.play({ '/a1': [{ status: 500 }, OK] })
    const body = saga('in-time', branches, 1, { ...WAITS, retry_interval: 2 })
    const { answer, tookMs } = await timed(dtm.node.post('submit', body))
    expect(answer).toEqual(OK)
    expect(tookMs).toBeGreaterThan(1_000)
  })

  it('A caller with a request_timeout is answered before that is over', async () => {
    const branches = dtm.play({ '/a1': [{ ...OK, delayMs: 60_000, hangUp: true }] })
    const body = saga('hangs', branches, 1, { ...WAITS, request_timeout: 4 })
    const { answer, tookMs } = await timed(dtm.node.post('submit', body))
    expect(answer).toEqual(ONGOING)
    expect(tookMs).toBeLessThan(4_000)
  })
})

describe('the time to wait', () => {
  const waits = [
    [0, 7_500],
    [1, 900],
    [3, 2_700],
    [8, 7_500],
    [30, 29_500],
    [1_000, 60_000],
  ] as const
  for (const [timeoutS, waitMs] of waits) {
    it(`The time to wait is ${waitMs} ms for a request_timeout of ${timeoutS || 'nothing'}`, () => {
      const request = readRequest(JSON.stringify({ request_timeout: timeoutS }))
      expect(readWaitMs(request)).toBe(waitMs)
    })
  }
})
