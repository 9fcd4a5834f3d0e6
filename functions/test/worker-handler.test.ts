import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { createWorkerHandler } from '../src/worker-handler.ts'
import { createContext } from './support/lambda-context.ts'
import { buildSaga, createTestParts } from './support/test-parts.ts'

const PLENTY_MS = 30_000

function buildEvent(...bodies: readonly string[]) {
  return { Records: bodies.map((body, position) => ({ messageId: `m${position + 1}`, body })) }
}

async function waiting(
  store: ReturnType<typeof memoryStore>,
  gids: readonly string[],
  more: object = {},
): Promise<void> {
  const { engine } = createTestParts({ store })
  for (const gid of gids) {
    await engine.during(PLENTY_MS, () => engine.submit(buildSaga(gid, { delayMs: 2_000, ...more })))
  }
}

async function readStatus(store: ReturnType<typeof memoryStore>, gid: string): Promise<string | undefined> {
  return (await store.readMany([gid as Gid]))[0]?.status
}

describe('the worker', () => {
  it('The worker ends the transactions that the wake-up messages name, and all messages have succeeded', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, ['a', 'b', 'c'])
    skewMs = 2_000
    const parts = createTestParts({ role: 'worker', store })
    const handle = createWorkerHandler(parts)
    const event = buildEvent('{"gids":["a","b"]}', '{"gids":["c"]}')
    expect(await handle(event, createContext(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(await Promise.all(['a', 'b', 'c'].map((gid) => readStatus(store, gid)))).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ])
    expect(parts.wakeUps).toEqual([])
  })

  it('A branch that is ongoing does not fail the wake-up message: the saga is given back, and another wake-up is asked for', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, ['a'])
    skewMs = 2_000
    const parts = createTestParts({
      role: 'worker',
      store,
      answer: async () => ({ result: 'ongoing', statusCode: 425, retryAfterMs: 60_000 }),
    })
    const answer = await createWorkerHandler(parts)(buildEvent('{"gids":["a"]}'), createContext(PLENTY_MS))
    expect(answer).toEqual({ batchItemFailures: [] })
    expect(parts.wakeUps).toEqual([{ gid: 'a', dueInMs: expect.closeTo(60_000, -3) }])
  })

  it('Only the wake-up messages whose transactions could not be claimed come back', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, ['a', 'b'])
    skewMs = 2_000
    const claim = store.claim.bind(store)
    store.claim = (asked) =>
      asked.gid === 'b'
        ? Promise.reject(new StoreUnavailableError('the connection broke', { applied: 'unknown' }))
        : claim(asked)
    const parts = createTestParts({ role: 'worker', store })
    const answer = await createWorkerHandler(parts)(
      buildEvent('{"gids":["a"]}', '{"gids":["b"]}'),
      createContext(PLENTY_MS),
    )
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm2' }] })
    expect(await readStatus(store, 'a')).toBe('succeeded')
    expect(parts.lines).toEqual([
      { level: 'warn', message: 'it could not be claimed', fields: expect.anything() },
    ])
  })

  it('A doubled wake-up message, one about a final transaction and one about an unknown gid are done with', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, ['a'])
    skewMs = 2_000
    const parts = createTestParts({ role: 'worker', store })
    const handle = createWorkerHandler(parts)
    const event = buildEvent('{"gids":["a"]}', '{"gids":["a"]}', '{"gids":["never"]}')
    expect(await handle(event, createContext(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(await handle(event, createContext(PLENTY_MS))).toEqual({ batchItemFailures: [] })
    expect(parts.calls).toHaveLength(1)
  })

  it('The worker drops a message of another form with an error in the log, and does the others', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    await waiting(store, ['a'])
    skewMs = 2_000
    const parts = createTestParts({ role: 'worker', store })
    const answer = await createWorkerHandler(parts)(
      buildEvent('hello', '{"gids":["a"]}'),
      createContext(PLENTY_MS),
    )
    expect(answer).toEqual({ batchItemFailures: [] })
    expect(parts.lines.map(({ level }) => level)).toEqual(['error'])
    expect(await readStatus(store, 'a')).toBe('succeeded')
  })

  it('S40: A worker holds no more large transactions at once than it has memory for, and no message comes back for that', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    const large = Array.from({ length: 30 }, (_, position) => `large${position}`)
    await waiting(store, large, { branches: buildLargeBranches() })
    await waiting(store, ['small'])
    skewMs = 2_000
    const [running, order]: [Set<string>, string[]] = [new Set(), []]
    let most = 0
    const parts = createTestParts({
      role: 'worker',
      store,
      variables: { AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '320', COUNTERSTEP_TARGET_SHARE: '1' },
      answer: async ({ gid }) => {
        order.push(gid)
        running.add(gid)
        most = Math.max(most, running.size)
        await pause(1_500)
        running.delete(gid)
        return { result: 'success', statusCode: 200 }
      },
    })
    const bodies = [large.slice(0, 10), large.slice(10, 20), large.slice(20), ['small']]
    const event = buildEvent(...bodies.map((gids) => JSON.stringify({ gids })))
    expect(await createWorkerHandler(parts)(event, createContext(PLENTY_MS))).toEqual({
      batchItemFailures: [],
    })
    // The places of 320 MB are 256, and each large one takes 25 of them.
    expect(most).toBeGreaterThan(4)
    expect(most).toBeLessThanOrEqual(11)
    // The transaction of the last message does not stand behind all of the first ones.
    expect(order.indexOf('small')).toBeLessThanOrEqual(3 * 4)
    const ended = await Promise.all([...large, 'small'].map((gid) => readStatus(store, gid)))
    const asked = parts.wakeUps.map(({ gid, dueInMs }) => `${gid} ${dueInMs}`)
    const left = large.filter((_, position) => ended[position] !== 'succeeded')
    expect(left.length).toBeGreaterThan(0)
    expect(asked.toSorted()).toEqual(left.map((gid) => `${gid} 0`).toSorted())
  })
})

/** Builds the branches of a saga of 800 KB. */
function buildLargeBranches(): readonly object[] {
  return ['01', '02', '03', '04'].map((id) => ({
    id,
    action: 'http://bank.test/in',
    compensation: 'http://bank.test/out',
    payload: 'x'.repeat(200_000),
    after: [],
  }))
}
