import { StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { workerHandler } from '../src/worker-handler.ts'
import { contextOf } from './support/lambda-context.ts'
import { sagaOf, testHome } from './support/test-home.ts'

const PLENTY_MS = 30_000

function eventOf(...bodies: readonly string[]) {
  return { Records: bodies.map((body, position) => ({ messageId: `m${position + 1}`, body })) }
}

async function waiting(store: ReturnType<typeof memoryStore>, ...gids: readonly string[]): Promise<void> {
  const { engine } = testHome({ store })
  for (const gid of gids) {
    await engine.during(PLENTY_MS, () => engine.submit(sagaOf(gid, { delayMs: 2_000 })))
  }
}

async function statusOf(store: ReturnType<typeof memoryStore>, gid: string): Promise<string | undefined> {
  return (await store.readMany([gid as Gid]))[0]?.status
}

describe('the worker', () => {
  it('The worker ends the transactions that the wake-up messages name, and all messages have succeeded', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, 'a', 'b', 'c')
    skewMs = 2_000
    const home = testHome({ role: 'worker', store })
    const handle = workerHandler(home)
    const event = eventOf('{"gids":["a","b"]}', '{"gids":["c"]}')
    expect(await handle(event, contextOf(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(await Promise.all(['a', 'b', 'c'].map((gid) => statusOf(store, gid)))).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ])
    expect(home.looks).toEqual([])
  })

  it('A branch that is ongoing does not fail the wake-up message: the saga is given back, and another wake-up is asked for', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, 'a')
    skewMs = 2_000
    const home = testHome({
      role: 'worker',
      store,
      answer: async () => ({ result: 'ongoing', statusCode: 425, retryAfterMs: 60_000 }),
    })
    const answer = await workerHandler(home)(eventOf('{"gids":["a"]}'), contextOf(PLENTY_MS))
    expect(answer).toEqual({ batchItemFailures: [] })
    expect(home.looks).toEqual([{ gid: 'a', dueInMs: expect.closeTo(60_000, -3) }])
  })

  it('Only the wake-up messages whose transactions could not be claimed come back', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, 'a', 'b')
    skewMs = 2_000
    const claim = store.claim.bind(store)
    store.claim = (asked) =>
      asked.gid === 'b'
        ? Promise.reject(new StoreUnavailableError('the connection broke', { applied: 'unknown' }))
        : claim(asked)
    const home = testHome({ role: 'worker', store })
    const answer = await workerHandler(home)(
      eventOf('{"gids":["a"]}', '{"gids":["b"]}'),
      contextOf(PLENTY_MS),
    )
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm2' }] })
    expect(await statusOf(store, 'a')).toBe('succeeded')
    expect(home.lines).toEqual([
      { level: 'warn', message: 'it could not be claimed', fields: expect.anything() },
    ])
  })

  it('A doubled wake-up message, one about a final transaction and one about an unknown gid are done with', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, 'a')
    skewMs = 2_000
    const home = testHome({ role: 'worker', store })
    const handle = workerHandler(home)
    const event = eventOf('{"gids":["a"]}', '{"gids":["a"]}', '{"gids":["never"]}')
    expect(await handle(event, contextOf(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(await handle(event, contextOf(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(home.calls).toHaveLength(1)
  })

  it('The worker drops a message of another form with an error in the log, and does the others', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, 'a')
    skewMs = 2_000
    const home = testHome({ role: 'worker', store })
    const answer = await workerHandler(home)(eventOf('hello', '{"gids":["a"]}'), contextOf(PLENTY_MS))
    expect(answer).toEqual({ batchItemFailures: [] })
    expect(home.lines.map(({ level }) => level)).toEqual(['error'])
    expect(await statusOf(store, 'a')).toBe('succeeded')
  })
})
