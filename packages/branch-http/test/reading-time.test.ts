import { buildConnector, Pool } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import { boundAnswers } from '../src/bounded-answers.ts'
import { ReadingTime } from '../src/reading-time.ts'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it('Reads take their share of the time, in the order in which they came', async () => {
  const time = new ReadingTime(0.25)
  const order: number[] = []
  const startedAt = performance.now()
  const reads = Array.from({ length: 40 }, (_, index) => {
    return new Promise<void>((resolve) => {
      time.run(() => {
        order.push(index)
        work(5)
        resolve()
      })
    })
  })
  await Promise.all(reads)
  expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index))
  // They took 200 ms, of which 20 ms had been saved, and a read of 5 ms may begin with little left.
  expect(performance.now() - startedAt).toBeGreaterThan((200 - 20 - 5) / 0.25)
})

it('A read that took long keeps the next one waiting for a bounded time, and one after it for none', async () => {
  const time = new ReadingTime(0.5)
  time.run(() => work(300))
  const startedAt = performance.now()
  await new Promise<void>((resolve) => time.run(resolve))
  const waitedMs = performance.now() - startedAt
  expect(waitedMs).toBeGreaterThan(0)
  let hasRun = false
  // It would wait for 560 ms if all of the first read counted.
  await new Promise((resolve) => setTimeout(resolve, 40))
  time.run(() => {
    hasRun = true
  })
  expect(hasRun).toBe(true)
})

it('Nothing of an answer is read before there is time for it', async () => {
  const server = await serveHttp((_request, response) => response.end('done'))
  const reads: (() => void)[] = []
  const time = new ReadingTime(1)
  const hasCome = new Promise<void>((resolve) => {
    vi.spyOn(time, 'run').mockImplementation((read) => {
      reads.push(read)
      resolve()
    })
  })
  const pool = new Pool(server.url, { connect: boundAnswers(buildConnector({ timeout: 1_000 }), time) })
  onTestFinished(() => pool.destroy())
  let answer: string | undefined
  void pool.request({ path: '/', method: 'GET' }).then(async ({ body }) => {
    answer = await body.text()
  })
  await hasCome
  await new Promise(setImmediate)
  expect(answer).toBeUndefined()
  await vi.waitFor(() => {
    for (const read of reads.splice(0)) read()
    expect(answer).toBe('done')
  })
})

it('Origins that are not listed share one time, and each listed one has its own', async () => {
  const servers = await Promise.all(
    Array.from({ length: 4 }, () => serveHttp((_request, response) => response.end('ok'))),
  )
  const [listed, otherListed, unlisted, otherUnlisted] = servers.map(({ url }) => url) as [
    string,
    string,
    string,
    string,
  ]
  const run = vi.spyOn(ReadingTime.prototype, 'run')
  onTestFinished(() => run.mockRestore())
  const caller = testCaller({ listedOrigins: [listed, otherListed].map((url) => new URL(url).origin) })
  const findTime = async (url: string): Promise<unknown> => {
    run.mockClear()
    expect(await caller.call(buildCall(url))).toMatchObject({ result: 'success' })
    return run.mock.contexts[0]
  }
  const shared = await findTime(unlisted)
  expect(shared).toBeInstanceOf(ReadingTime)
  expect(await findTime(otherUnlisted)).toBe(shared)
  const own = await findTime(listed)
  expect(own).not.toBe(shared)
  expect(await findTime(otherListed)).not.toBe(own)
})
