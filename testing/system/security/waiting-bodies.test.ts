import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BranchAnswer } from '@counterstep/core'
import { memoryStore } from '@counterstep/store-conformance'
import { collectGarbage } from '@counterstep/test-servers/collect-garbage'
import { expect, it } from 'vitest'
import { openBothApis } from './both-apis.ts'

const WAITING = 20
const MIB = 1024 * 1024
const URL = 'http://127.0.0.1:9/hangs'

const branch = { id: 'b', action: URL, compensation: URL }
/** 240 KB of text, which take some 5 MB when they are parsed. */
const payload = Array.from({ length: 80_000 }, () => ({}))
const dtmSaga = {
  trans_type: 'saga',
  steps: [{ action: URL, compensate: URL, unread: 'y'.repeat(200_000) }],
  payloads: ['{}'],
  wait_result: true,
  request_timeout: 60,
  unread: 'x'.repeat(700_000),
}

function readHeapMib(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / MIB
}

it.each([
  // The text of the payload is held by what runs, some three times.
  ['native', '/v1/transactions', (n: number) => ({ gid: `n-${n}`, branches: [{ ...branch, payload }] }), 40],
  ['dtm', '/api/dtmsvr/submit', (n: number) => ({ ...dtmSaga, gid: `d-${n}` }), 6],
  [
    'dtm',
    '/api/json-rpc',
    (n: number) => ({ jsonrpc: '2.0', id: '1', method: 'submit', params: { ...dtmSaga, gid: `j-${n}` } }),
    6,
  ],
] as const)(
  'S41: A request to the %s API at %s that waits does not hold its body',
  async (api, path, build, mibMax) => {
    let end = (_: BranchAnswer): void => undefined
    const hangs = new Promise<BranchAnswer>((resolve) => {
      end = resolve
    })
    await using apis = await openBothApis(memoryStore(), { answer: () => hangs })
    const app = apis[api]
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const bodies = Array.from({ length: WAITING }, (_, n) => Buffer.from(JSON.stringify(build(n))))
    const before = readHeapMib()
    const answers = bodies.map((body) => send(`http://127.0.0.1:${port}${path}`, body))
    await expect.poll(() => apis.calls.length, { timeout: 30_000, interval: 20 }).toBe(WAITING)
    await expect.poll(() => readHeapMib() - before, { timeout: 10_000, interval: 100 }).toBeLessThan(mibMax)
    end({ result: 'success', statusCode: 200 })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: WAITING }, () => 200))
  },
)

/** The body is bytes, since a text would be in the heap that is measured. */
function send(url: string, body: Buffer): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length, prefer: 'wait=60' }
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    })
    asked.once('error', reject).end(body)
  })
}
