import { buildConnector, Pool } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import { boundAnswers } from '../src/bounded-answers.ts'
import { type OriginReads, ReadingTime } from '../src/reading-time.ts'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it('Reads take their share of the time, in the order in which they came', async () => {
  const reads = new ReadingTime(0.25).openOrigin()
  const order: number[] = []
  const startedAt = performance.now()
  const all = Array.from({ length: 40 }, (_, index) => {
    return new Promise<void>((resolve) => {
      reads.run({}, () => {
        order.push(index)
        work(5)
        resolve()
      })
    })
  })
  await Promise.all(all)
  expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index))
  // They took 200 ms, of which 20 ms had been saved, and a read of 5 ms may begin with little left.
  expect(performance.now() - startedAt).toBeGreaterThan((200 - 20 - 5) / 0.25)
})

it('A read that took long keeps the next one waiting for a bounded time, and one after it for none', async () => {
  const reads = new ReadingTime(0.5).openOrigin()
  reads.run({}, () => work(300))
  const startedAt = performance.now()
  await new Promise<void>((resolve) => reads.run({}, resolve))
  const waitedMs = performance.now() - startedAt
  expect(waitedMs).toBeGreaterThan(0)
  let hasRun = false
  // It would wait for 560 ms if all of the first read counted.
  await new Promise((resolve) => setTimeout(resolve, 40))
  reads.run({}, () => {
    hasRun = true
  })
  expect(hasRun).toBe(true)
})

it('An origin that has used little is read before others, however many of their connections wait', async () => {
  const time = new ReadingTime(0.25)
  const [slow, otherSlow, quick] = [time.openOrigin(), time.openOrigin(), time.openOrigin()]
  let slowReads = 0
  const readSlowly = (reads: OriginReads) =>
    reads.run({}, () => {
      slowReads += 1
      work(5)
    })
  for (let count = 0; count < 200; count++) for (const reads of [slow, otherSlow]) readSlowly(reads)
  const before = slowReads
  for (let count = 0; count < 5; count++) await new Promise<void>((resolve) => quick.run({}, resolve))
  // Each read of the quick one waits at most for the one that is under way and for the time that it took.
  expect(slowReads - before).toBeLessThan(20)
})

for (const where of ['the read', 'its ticks'] as const) {
  it(`Nothing more is read before the ticks of a read have run, nor in a turn in which ${where} took long`, async () => {
    const time = new ReadingTime(0.5)
    const [reads, others] = [time.openOrigin(), time.openOrigin()]
    const order: string[] = []
    let tookMs = 0
    const last = new Promise<void>((resolve) => {
      reads.runInTicks(
        {},
        () => {
          if (where === 'the read') work(60)
          process.nextTick(() => {
            if (where === 'its ticks') work(60)
            order.push('ticks of the first')
          })
        },
        (ms) => {
          tookMs = ms
          order.push('told')
        },
      )
      others.runInTicks({}, () => {
        order.push('the second')
        work(200)
        resolve()
      })
      setImmediate(() => order.push('another turn'))
    })
    await last
    expect(order).toEqual(['ticks of the first', 'told', 'another turn', 'the second'])
    // It has not been told of the second one's time.
    expect(tookMs).toBeGreaterThan(0)
    expect(tookMs).toBeLessThan(200)
  })
}

it('A connection that has more to read waits once, and not at all when it has closed', async () => {
  const reads = new ReadingTime(0.1).openOrigin()
  reads.run({}, () => work(60))
  const [connection, closed] = [{}, {}]
  let count = 0
  for (let told = 0; told < 100; told++) reads.run(connection, () => count++)
  reads.run(closed, () => (count += 1_000))
  reads.forget(closed)
  await new Promise<void>((resolve) => reads.run({}, resolve))
  expect(count).toBe(1)
})

it('A read may ask for another one, and one that throws keeps none from its turn', async () => {
  const reads = new ReadingTime(0.5).openOrigin()
  const inner = new Promise<void>((resolve) => reads.run({}, () => reads.run({}, resolve)))
  await inner
  const fails = () => {
    throw new Error('a broken read')
  }
  expect(() => reads.run({}, fails)).toThrow('a broken read')
  await new Promise<void>((resolve) => reads.run({}, resolve))
})

it('Nothing of an answer is read before there is time for it', async () => {
  const server = await serveHttp((_request, response) => response.end('done'))
  const reads: (() => void)[] = []
  const origin = new ReadingTime(1).openOrigin()
  const hasCome = new Promise<void>((resolve) => {
    vi.spyOn(origin, 'run').mockImplementation((_connection, read) => {
      reads.push(read)
      resolve()
    })
  })
  const pool = new Pool(server.url, { connect: boundAnswers(buildConnector({ timeout: 1_000 }), origin) })
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

it('Origins that are listed share one time, and all others share another', async () => {
  const servers = await Promise.all(
    Array.from({ length: 4 }, () => serveHttp((_request, response) => response.end('ok'))),
  )
  const [listed, otherListed, unlisted, otherUnlisted] = servers.map(({ url }) => url) as [
    string,
    string,
    string,
    string,
  ]
  const open = vi.spyOn(ReadingTime.prototype, 'openOrigin')
  onTestFinished(() => open.mockRestore())
  const caller = testCaller({ listedOrigins: [listed, otherListed].map((url) => new URL(url).origin) })
  const findTime = async (url: string): Promise<unknown> => {
    open.mockClear()
    expect(await caller.call(buildCall(url))).toMatchObject({ result: 'success' })
    return open.mock.contexts[0]
  }
  const shared = await findTime(unlisted)
  expect(shared).toBeInstanceOf(ReadingTime)
  expect(await findTime(otherUnlisted)).toBe(shared)
  const ofListed = await findTime(listed)
  expect(ofListed).not.toBe(shared)
  expect(await findTime(otherListed)).toBe(ofListed)
})
