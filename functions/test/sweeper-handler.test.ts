import { StoreUnavailableError } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { createSweeperHandler, POSTPONE_MS } from '../src/sweeper-handler.ts'
import { createContext } from './support/lambda-context.ts'
import { buildSaga, createTestParts } from './support/test-parts.ts'

const PLENTY_MS = 30_000

interface Sweep {
  readonly store: ReturnType<typeof memoryStore>
  pass(ms: number): void
}

async function dueSagas(count: number): Promise<Sweep> {
  let skewMs = 0
  const store = memoryStore({ now: () => Date.now() + skewMs })
  const { engine } = createTestParts({ store })
  for (let position = 0; position < count; position++) {
    await engine.during(PLENTY_MS, () => engine.submit(buildSaga(`s${position}`, { delayMs: 2_000 })))
  }
  return {
    store,
    pass: (ms) => {
      skewMs += ms
    },
  }
}

const UNAVAILABLE = new StoreUnavailableError('a statement had no answer in time', { applied: 'unknown' })

/** Fails each call of more rows than that, as a database does whose rows are large. It returns the rows of each call. */
function failOver(rowsMax: number, store: Sweep['store'], verb: 'postponeDue' | 'purgeFinished'): number[] {
  const asked: number[] = []
  const bound = <T>(limit: number, call: () => Promise<T>) => {
    asked.push(limit)
    return limit > rowsMax ? Promise.reject(UNAVAILABLE) : call()
  }
  const { postponeDue, purgeFinished } = store
  if (verb === 'postponeDue')
    store.postponeDue = (asks) => bound(asks.limit, () => postponeDue.call(store, asks))
  else store.purgeFinished = (limit) => bound(limit, () => purgeFinished.call(store, limit))
  return asked
}

describe('the sweeper', () => {
  it('The sweeper asks the queue for all that is due, and again only after a minute', async () => {
    const { store, pass } = await dueSagas(3)
    pass(10_000)
    const parts = createTestParts({ role: 'sweeper', store })
    const sweep = createSweeperHandler(parts, () => undefined)
    await sweep({}, createContext(PLENTY_MS))
    expect(parts.wakeUps.map(({ gid, dueInMs }) => `${gid} ${dueInMs}`).sort()).toEqual([
      's0 0',
      's1 0',
      's2 0',
    ])
    expect(new Set(parts.wakeUps.map(({ group }) => group))).toEqual(new Set(['swept']))
    expect(parts.calls).toEqual([])
    await sweep({}, createContext(PLENTY_MS))
    expect(parts.wakeUps).toHaveLength(3)
    pass(POSTPONE_MS)
    await sweep({}, createContext(PLENTY_MS))
    expect(parts.wakeUps).toHaveLength(6)
  })

  it('The sweeper claims nothing, so that the worker that gets its message may claim at once', async () => {
    const { store, pass } = await dueSagas(1)
    pass(10_000)
    const before = (await store.readMany(['s0' as Gid]))[0]
    await createSweeperHandler(createTestParts({ role: 'sweeper', store }), () => undefined)(
      {},
      createContext(PLENTY_MS),
    )
    const after = (await store.readMany(['s0' as Gid]))[0]
    expect(after).toMatchObject({
      token: before?.token,
      version: before?.version,
      epoch: before?.epoch,
      owned: false,
    })
    const worker = createTestParts({ role: 'worker', store })
    const outcome = await worker.engine.during(PLENTY_MS, (invocation) => invocation.runClaimed('s0' as Gid))
    expect(outcome).toBe('final')
  })

  it('A sweeper without a queue runs what is due itself', async () => {
    const { store, pass } = await dueSagas(3)
    pass(10_000)
    const parts = createTestParts({ role: 'sweeper', store, hasQueue: false })
    await createSweeperHandler(parts, () => undefined)({}, createContext(PLENTY_MS))
    expect(parts.calls).toHaveLength(3)
    expect((await store.stats()).unfinished).toEqual({ prepared: 0, submitted: 0, aborting: 0 })
  })

  it('The sweeper removes what is past its retention', async () => {
    const { store, pass } = await dueSagas(2)
    pass(10_000)
    const variables = { COUNTERSTEP_RETENTION_MS: '60000' }
    const parts = createTestParts({ role: 'sweeper', store, hasQueue: false, variables })
    const sweep = createSweeperHandler(parts, () => undefined)
    await sweep({}, createContext(PLENTY_MS))
    pass(60_001)
    await sweep({}, createContext(PLENTY_MS))
    expect(await store.readMany(['s0', 's1'] as Gid[])).toEqual([])
  })

  it.each([
    { rowsMax: 64, asked: [64], next: [64] },
    { rowsMax: 20, asked: [64, 16, 16], next: [16, 16] },
    { rowsMax: 15, asked: [64, 16, 4, 4, 4, 4, 4, 4], next: [4, 4, 4, 4, 4, 4] },
    { rowsMax: 1, asked: [64, 16, 4, ...Array(16).fill(1), 4, ...Array(5).fill(1)], next: Array(11).fill(1) },
  ])('The sweeper asks for all that is due where the store postpones $rowsMax rows at once', async (row) => {
    const { store, pass } = await dueSagas(20)
    pass(10_000)
    const asked = failOver(row.rowsMax, store, 'postponeDue')
    const parts = createTestParts({ role: 'sweeper', store })
    const sweep = createSweeperHandler(parts, () => undefined)
    await sweep({}, createContext(PLENTY_MS))
    expect(new Set(parts.wakeUps.map(({ gid }) => gid)).size).toBe(20)
    expect(asked).toEqual(row.asked)
    pass(POSTPONE_MS)
    asked.length = 0
    await sweep({}, createContext(PLENTY_MS))
    expect(parts.wakeUps).toHaveLength(40)
    expect(asked.slice(0, row.next.length)).toEqual(row.next)
  })

  it.each([
    { rowsMax: 128, asked: [128] },
    { rowsMax: 40, asked: [128, 32] },
    { rowsMax: 10, asked: [128, 32, 8, 8, 8] },
    { rowsMax: 4, asked: [128, 32, 8, ...Array(11).fill(2)] },
  ])('The sweeper purges all where the store removes $rowsMax rows at once', async ({ rowsMax, asked }) => {
    const { store, pass } = await dueSagas(20)
    pass(10_000)
    const variables = { COUNTERSTEP_RETENTION_MS: '60000' }
    const run = createTestParts({ role: 'sweeper', store, hasQueue: false, variables })
    await createSweeperHandler(run, () => undefined)({}, createContext(PLENTY_MS))
    pass(60_001)
    const limits = failOver(rowsMax, store, 'purgeFinished')
    const lines: string[] = []
    const sweep = createSweeperHandler(run, (line) => lines.push(line))
    await sweep({}, createContext(PLENTY_MS))
    expect(limits).toEqual(asked)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ Purged: 20 })
  })

  it.each([
    { verb: 'postponeDue' as const, asked: [64, 16, 4, 1] },
    { verb: 'purgeFinished' as const, asked: [128, 32, 8, 2, 1] },
  ])('The sweeper fails if $verb fails for a single row', async ({ verb, asked }) => {
    const { store } = await dueSagas(0)
    const limits = failOver(0, store, verb)
    const sweep = createSweeperHandler(createTestParts({ role: 'sweeper', store }), () => undefined)
    await expect(sweep({}, createContext(PLENTY_MS))).rejects.toBe(UNAVAILABLE)
    expect(limits).toEqual(asked)
  })

  it('The sweeper tries no fewer rows once its time is up', async () => {
    const { store } = await dueSagas(0)
    const asked: number[] = []
    store.postponeDue = async ({ limit }) => {
      asked.push(limit)
      await new Promise((resolve) => setTimeout(resolve, 300))
      throw UNAVAILABLE
    }
    const sweep = createSweeperHandler(createTestParts({ role: 'sweeper', store }), () => undefined)
    // The end of the invocation has 3 s of this time, and the last calls have half of the rest.
    await expect(sweep({}, createContext(3_400))).rejects.toBe(UNAVAILABLE)
    expect(asked).toEqual([64])
  })

  it('The sweeper publishes the gauges as they were before, in the embedded metric format', async () => {
    const { store, pass } = await dueSagas(2)
    pass(10_000)
    const lines: string[] = []
    const parts = createTestParts({
      role: 'sweeper',
      store,
      variables: { COUNTERSTEP_METRICS_NAMESPACE: 'Shop/Sagas' },
    })
    await createSweeperHandler(parts, (line) => lines.push(line))({}, createContext(PLENTY_MS))
    expect(lines).toHaveLength(1)
    const published = JSON.parse(lines[0] ?? '')
    const [directive] = published._aws.CloudWatchMetrics
    expect(directive.Namespace).toBe('Shop/Sagas')
    expect(directive.Dimensions).toEqual([[]])
    expect(directive.Metrics).toContainEqual({ Name: 'OldestDueAgeMs', Unit: 'Milliseconds' })
    for (const { Name } of directive.Metrics) expect(published[Name]).toEqual(expect.any(Number))
    expect(published).toMatchObject({ UnfinishedSubmitted: 2, NeedsAttention: 0, Swept: 2, Purged: 0 })
    expect(published.OldestDueAgeMs).toBeGreaterThan(7_000)
  })

  it('The sweeper sweeps and purges though it cannot measure, and though the queue refuses', async () => {
    const { store, pass } = await dueSagas(2)
    pass(10_000)
    const lines: string[] = []
    const parts = createTestParts({ role: 'sweeper', store })
    store.stats = () => Promise.reject(new Error('too slow'))
    await expect(
      createSweeperHandler(parts, (line) => lines.push(line))({}, createContext(PLENTY_MS)),
    ).rejects.toThrow('too slow')
    expect(parts.wakeUps).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ Swept: 2, Purged: 0 })
    pass(POSTPONE_MS)
    const refused = { ...parts, queue: { schedule: () => Promise.reject(new Error('refused')) } }
    const sweep = createSweeperHandler(refused, (line) => lines.push(line))
    await expect(sweep({}, createContext(PLENTY_MS))).rejects.toThrow()
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ Purged: 0 })
  })

  it('The sweeper logs all that failed, and fails with the first error', async () => {
    const { store } = await dueSagas(0)
    const parts = createTestParts({ role: 'sweeper', store })
    const [tooSlow, unreachable] = [new Error('too slow'), new Error('unreachable')]
    store.stats = () => Promise.reject(tooSlow)
    store.purgeFinished = () => Promise.reject(unreachable)
    const sweep = createSweeperHandler(parts, () => undefined)
    await expect(sweep({}, createContext(PLENTY_MS))).rejects.toBe(tooSlow)
    expect(parts.lines).toEqual([
      { level: 'error', message: 'a part of the sweep failed', fields: { work: 'stats', err: tooSlow } },
      { level: 'error', message: 'a part of the sweep failed', fields: { work: 'purge', err: unreachable } },
    ])
  })

  it('The sweeper fails when the store does not answer, so that its alarm rings', async () => {
    const { store } = await dueSagas(0)
    await store.close()
    const parts = createTestParts({ role: 'sweeper', store })
    await expect(createSweeperHandler(parts)({}, createContext(PLENTY_MS))).rejects.toThrow()
  })
})
