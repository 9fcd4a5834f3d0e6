import { parseSubmission, type Submission } from '@counterstep/core'
import type { SagaSubmitRequest } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../src/settings.ts'
import { Fixture } from './support/fixture.ts'
import { buildSaga, watched } from './support/sagas.ts'

/** The same saga, apart from the fields that only another dialect sets. */
function lateSaga(body: SagaSubmitRequest): Submission {
  const { retry, branchTimeoutMs: timeoutMs, checkpointMs } = DEFAULT_SETTINGS
  const parsed = parseSubmission(body, { retry, timeoutMs, checkpointMs }, () => undefined)
  if (parsed.type === 'refused' || parsed.submission.definition.kind !== 'saga') throw new Error('no saga')
  const { definition } = parsed.submission
  return { ...parsed.submission, definition: { ...definition, lastActionsMayEndLate: true } }
}

const SLOW_POLL = { pollMs: 60_000, leaseMs: 600_000 }

describe('a delayed start', () => {
  it('A delayed saga makes no call before its start, and the hint leads to its claim then', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    const view = await node.submit(buildSaga('a', 2, { delayMs: 30_000 }))
    expect(view.startAt).toBe(view.createdAt + 30_000)
    expect(node.engine.health().inFlight).toBe(0)
    await fixture.time.advance(29_999)
    expect(fixture.services.calls).toEqual([])
    await fixture.time.advance(2)
    expect(await fixture.status('a')).toBe('succeeded')
    expect(node.store.writes).toBe(2)
  })

  it('A short delay is waited for in memory', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    await node.submit(buildSaga('a', 2, { delayMs: 800 }))
    expect(node.engine.health().inFlight).toBe(1)
    await fixture.time.advance(799)
    expect(fixture.services.calls).toEqual([])
    await fixture.time.advance(1)
    expect(await fixture.status('a')).toBe('succeeded')
    expect((await fixture.row('a')).epoch).toBe(1)
  })

  it('A delayed start keeps the list of sent actions on a class A store whose failover loses nothing, and on no other', async () => {
    for (const [durabilityClass, failover, compensations] of [
      ['A', 'none', ['01 compensate']],
      ['A', 'lossless', ['01 compensate']],
      ['A', 'lossy', ['02 compensate', '01 compensate']],
      ['C', 'none', ['02 compensate', '01 compensate']],
    ] as const) {
      const fixture = new Fixture()
      const node = await fixture.node({ durabilityClass, failover })
      fixture.services.script('a', '01', 'action', 'failure')
      await node.submit(buildSaga('a', 2, { delayMs: 5_000 }))
      await fixture.untilStatus('a', 'failed')
      expect(fixture.services.listCalls('a').slice(1)).toEqual(compensations)
    }
  })

  it('A saga with its start after its deadline fails without a call', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 2, { delayMs: 10_000, deadlineMs: 4_000 }))
    await fixture.untilStatus('a', 'failed', 6_000)
    expect((await node.get('a'))?.abort?.cause).toBe('deadline')
    expect(fixture.services.listCalls('a').filter((call) => call.endsWith('action'))).toEqual([])
  })

  it('Any node may abort a saga before it starts', async () => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(), await fixture.node()]
    await one.submit(buildSaga('a', 2, { delayMs: 20_000 }))
    await two.command('abort', 'a')
    await fixture.untilStatus('a', 'failed', 3_000)
    await fixture.time.advance(30_000)
    expect(fixture.services.effects).toEqual([])
  })
})

describe('a long back-off', () => {
  const request = buildSaga('a', 2, { retry: { initialMs: 5_000, factor: 2, capMs: 60_000 } })

  it('A long back-off is given back with one write, and the hint leads to its claim', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    fixture.services.script('a', '02', 'action', 'unknown', 'unknown')
    await node.submit(request)
    await fixture.time.flush()
    expect(node.store.updates.map(({ hold }) => hold.type)).toEqual(['release'])
    expect(await fixture.row('a')).toMatchObject({
      owned: false,
      retrying: true,
      sentList: 'released',
      dueAt: fixture.time.now + 5_000,
    })
    expect(node.engine.health().inFlight).toBe(0)
    await fixture.time.advance(4_999)
    expect(fixture.services.calls).toHaveLength(2)
    await fixture.time.advance(2)
    expect(fixture.services.calls).toHaveLength(3)
    await fixture.time.advance(10_002)
    expect(await fixture.status('a')).toBe('succeeded')
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action', '02 action', '02 action'])
    expect(node.store.count('update')).toBe(3)
  })

  it('The poll of another node claims a due row when the first node is dead', async () => {
    const fixture = new Fixture()
    const one = await fixture.node()
    fixture.services.script('a', '02', 'action', 'unknown')
    await one.submit(request)
    await fixture.time.advance(100)
    one.kill()
    await fixture.node()
    await fixture.untilStatus('a', 'succeeded', 6_500)
  })

  it('After a long back-off the released list is trusted, and only sent actions are compensated', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '02', 'action', 'unknown', 'failure')
    await node.submit(buildSaga('a', 4, { retry: { initialMs: 5_000 } }))
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a').slice(3)).toEqual(['02 compensate', '01 compensate'])
  })

  it('The deadline cuts a long back-off short', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '02', 'action', 'unknown')
    await node.submit({ ...request, deadlineMs: 3_000 })
    await fixture.untilStatus('a', 'failed', 4_000)
    expect((await node.get('a'))?.abort?.cause).toBe('deadline')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it.each(['here', 'elsewhere'])('is ended by a retry given %s', async (where) => {
    const fixture = new Fixture()
    const [one, two] = [await fixture.node(SLOW_POLL), await fixture.node(SLOW_POLL)]
    fixture.services.script('a', '02', 'action', 'unknown')
    await one.submit(request)
    await fixture.time.advance(500)
    await (where === 'here' ? one : two).command('retry', 'a')
    await fixture.untilStatus('a', 'succeeded', 500)
  })

  it('A retry on any node ends a back-off in memory', async () => {
    for (const where of ['here', 'elsewhere']) {
      const fixture = new Fixture()
      const settings = { holdMs: 60_000, leaseMs: 9_000 }
      const [one, two] = [await fixture.node(settings), await fixture.node(settings)]
      fixture.services.script('a', '01', 'action', 'unknown')
      await one.submit(buildSaga('a', 2, { retry: { initialMs: 50_000 } }))
      await fixture.time.advance(1_000)
      await (where === 'here' ? one : two).command('retry', 'a')
      await fixture.untilStatus('a', 'succeeded', where === 'here' ? 10 : 9_000)
    }
  })

  it('The Retry-After of a branch is obeyed', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(SLOW_POLL)
    fixture.services.script('a', '01', 'action', { result: 'unknown', statusCode: 503, retryAfterMs: 20_000 })
    await node.submit(buildSaga('a', 1))
    await fixture.time.advance(19_999)
    expect(fixture.services.calls).toHaveLength(1)
    await fixture.time.advance(2)
    expect(await fixture.status('a')).toBe('succeeded')
  })
})

describe('a deadline', () => {
  it('A deadline during a call aborts, and the compensation waits for the end of the call', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '01', 'action')
    await node.submit(buildSaga('a', 2, { deadlineMs: 5_000 }))
    await fixture.time.advance(4_999)
    expect((await node.get('a'))?.status).toBe('submitted')
    await fixture.time.advance(1)
    expect(await fixture.status('a')).toBe('aborting')
    await fixture.time.advance(2_000)
    expect(fixture.services.listCalls('a')).toEqual(['01 action'])
    call.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A deadline lets the last action end late where the definition says so', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const call = fixture.services.defer('a', '02', 'action')
    await node.engine.accept(lateSaga(buildSaga('a', 2, { deadlineMs: 5_000 })))
    await fixture.time.advance(7_000)
    expect(await fixture.status('a')).toBe('submitted')
    call.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action'])
  })

  it('A deadline prevents the last action while it waits for its turn', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ callsInFlightMax: 1 })
    const slow = fixture.services.defer('slow', '01', 'action')
    await node.submit(buildSaga('slow', 1))
    await node.engine.accept(lateSaga(buildSaga('a', 1, { deadlineMs: 5_000 })))
    await fixture.time.advance(7_000)
    slow.answer('success')
    await fixture.untilStatus('a', 'failed')
    expect(fixture.services.listCalls('a')).toEqual(['01 compensate'])
  })

  it('A deadline changes nothing before it passes, and nothing after the end', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const waited = watched(node.submit(buildSaga('a', 2, { deadlineMs: 5_000 }), { waitMs: 1_000 }))
    await fixture.time.advance(60_000)
    expect(waited.value?.status).toBe('succeeded')
    expect(await fixture.status('a')).toBe('succeeded')
  })
})

describe('what is over', () => {
  it('A finished saga leaves no alarm behind, though its deadline is far away', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (let n = 0; n < 50; n++) await node.submit(buildSaga(`s${n}`, 2, { deadlineMs: 86_400_000 }))
    await fixture.time.advance(20_000)
    expect(await fixture.unfinished()).toBe(0)
    // Only the timers of the loops are left: poll, renewal, purge and the look for bulk jobs.
    expect(node.clock.timers).toBe(4)
  })

  it('is purged after its retention, and its gid is new again', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ retentionMs: 60_000 })
    await node.submit(buildSaga('a'), { waitMs: 100 })
    await fixture.time.advance(59_000)
    expect(await fixture.rows()).toBe(1)
    await fixture.time.advance(32_000)
    expect(await fixture.rows()).toBe(0)
    expect(await node.get('a')).toBeUndefined()
    expect((await node.submit(buildSaga('a', 3), { waitMs: 100 })).status).toBe('succeeded')
  })
})
