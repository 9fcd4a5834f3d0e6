import type { Definition } from '@counterstep/core'
import type { BranchId, Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from '../support/fixture.ts'
import { buildSaga, readCode } from '../support/sagas.ts'

/** The age is scaled down from days, since each second of it is simulated. */
const AGE_MS = 600_000
const TCC = { gid: 'tcc', kind: 'tcc', deadlineMs: 3_600_000 }

describe('S40: the ceiling of timeoutMs', () => {
  it('refuses a longer one with its place, on every way in, and stores nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ timeoutMsMax: 20_000 })
    const [branch] = buildSaga('a').branches
    for (const longer of [
      { ...buildSaga('a'), timeoutMs: 20_001 },
      { ...buildSaga('a'), branches: [branch, { ...branch, id: 'x', timeoutMs: 20_001 }] },
      { ...TCC, timeoutMs: 20_001 },
      { gid: 'm', kind: 'message', timeoutMs: 900_000, branches: [{ action: 'http://a.test/x' }] },
    ])
      expect(await readCode(node.submit(longer))).toBe('SAGA_TIMEOUT_INVALID')
    expect(await fixture.rows()).toBe(0)
    expect(await readCode(node.submit({ ...buildSaga('a'), timeoutMs: 20_000 }))).toBe('accepted')
    await node.submit(TCC)
    const registered = { id: '01', confirm: 'http://a.test/c', cancel: 'http://a.test/x', timeoutMs: 20_001 }
    expect(await readCode(node.engine.registerBranch('tcc' as Gid, registered))).toBe('SAGA_TIMEOUT_INVALID')
  })

  it('shortens what was stored under a higher one, or taken by another dialect', async () => {
    const fixture = new Fixture()
    const timeouts: number[] = []
    fixture.services.onArrival = ({ timeoutMs }) => timeouts.push(timeoutMs)
    const one = fixture.idleNode()
    const saga = buildSaga('a', 2, { timeoutMs: 800_000, delayMs: 2_000 })
    const [first, second] = saga.branches
    if (first === undefined || second === undefined) throw new Error('two branches')
    await one.submit({ ...saga, branches: [{ ...first, timeoutMs: 900_000 }, second] })
    one.kill()
    const two = await fixture.node({ timeoutMsMax: 20_000 })
    await fixture.untilStatus('a', 'succeeded')
    expect(timeouts).toEqual([20_000, 20_000])
    // DTM's dialect hands over submissions that it has read by itself, in the same way.
    const definition: Definition = {
      kind: 'message',
      concurrent: false,
      branches: [
        {
          id: '01' as BranchId,
          action: 'http://a.test/x',
          body: '',
          contentType: 'application/json',
          headers: {},
        },
      ],
      retry: { initialMs: 1, factor: 1, capMs: 1, jitter: 0, limit: null },
      timeoutMs: 900_000,
      checkpointMs: 1_000,
    }
    const submission = { gid: 'd' as Gid, ack: 'durable', content: '{}', definition } as const
    await two.engine.accept(submission)
    await fixture.untilStatus('d', 'succeeded')
    expect(timeouts.at(-1)).toBe(20_000)
  })
})

describe('S40: the pace of one target', () => {
  it('makes calls wait that come too fast, without a failed attempt, and no call elsewhere', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ targetCallsPerSecond: 10 })
    const sentAt: number[] = []
    fixture.services.onArrival = ({ url }) => url.includes('bank.test') && sentAt.push(fixture.time.now)
    const startedAt = fixture.time.now
    for (let n = 0; n < 30; n++) await node.submit(buildSaga(`g${n}`, 1, { retry: { limit: 1 } }))
    await fixture.time.advance(1)
    await node.submit({ gid: 'other', branches: [{ action: 'http://other.test/x' }] })
    await fixture.untilStatus('other', 'succeeded', 1)
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 60_000)
    const inFirst = (ms: number) => sentAt.filter((at) => at < startedAt + ms).length
    expect([inFirst(1_000), inFirst(2_000)]).toEqual([11, 21])
    for (let n = 0; n < 30; n++) expect(await fixture.status(`g${n}`)).toBe('succeeded')
    expect((await node.get('g29'))?.branches[0]?.ops[0]?.attempts).toBe(1)
  })

  it('leaves to the store what would wait for long', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ targetCallsPerSecond: 1 })
    for (let n = 0; n < 40; n++) await node.submit(buildSaga(`g${n}`, 1))
    await fixture.time.advance(1_000)
    expect(node.engine.health().inFlight).toBeLessThan(15)
    await fixture.time.until('all have ended', async () => (await fixture.unfinished()) === 0, 600_000)
    expect(fixture.services.effects).toHaveLength(40)
  })
})

describe('S40: the age of a call that fails', () => {
  it('parks its transaction with attention, and an operator’s retry takes it on', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ parkAfterMs: AGE_MS, pollMs: 10_000 })
    fixture.services.otherwise = () => 'unknown'
    await node.submit(buildSaga('a'))
    await fixture.time.advance(AGE_MS + 120_000)
    expect(await fixture.row('a')).toMatchObject({ status: 'submitted', attention: true, owned: false })
    expect((await node.get('a'))?.attention).toContain('is parked until it is retried')
    const calls = fixture.services.calls.length
    await fixture.time.advance(3 * AGE_MS)
    expect(fixture.services.calls).toHaveLength(calls)
    fixture.services.otherwise = () => 'success'
    await node.command('retry', 'a')
    await fixture.untilStatus('a', 'succeeded', 5_000)
  })

  it('mutant: without the age it is called for ever', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ parkAfterMs: 'never', pollMs: 10_000 })
    fixture.services.otherwise = () => 'unknown'
    await node.submit(buildSaga('a'))
    await fixture.time.advance(AGE_MS + 120_000)
    const calls = fixture.services.calls.length
    await fixture.time.advance(AGE_MS)
    expect(fixture.services.calls.length).toBeGreaterThan(calls + 8)
  })
})
