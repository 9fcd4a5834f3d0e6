import type { BulkView, Gid } from '@counterstep/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BulkOrder } from '../src/bulk/bulk-jobs.ts'
import { START_AT } from './support/fake-time.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { buildSaga, readCode } from './support/sagas.ts'

const ORDER: BulkOrder = {
  command: 'retry',
  choice: { query: { retrying: true }, filter: 'retrying=true' },
  reason: 'the bank is mended',
  ratePerSecond: 500,
  canary: 4,
  max: 10_000,
}
const BY = { via: 'local' } as const
/** Sagas wait for an hour after their first failure, so that only a command lets them go on. */
const PATIENT = { retry: { initialMs: 3_600_000, factor: 1, capMs: 3_600_000, jitter: 0, limit: null } }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_AT })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Lets sagas wait for a bank that answers nothing definite. */
async function strand(fixture: Fixture, node: TestNode, count: number): Promise<void> {
  fixture.services.otherwise = () => 'unknown'
  for (let number = 0; number < count; number++) await node.submit(buildSaga(`saga-${number}`, 1))
  await fixture.time.advance(2_000)
}

async function untilState(
  fixture: Fixture,
  node: TestNode,
  { id }: BulkView,
  state: BulkView['state'],
): Promise<BulkView> {
  await fixture.time.until(
    `the job is ${state}`,
    async () => (await node.engine.bulk.show(id)).state === state,
    300_000,
  )
  return await node.engine.bulk.show(id)
}

function count(view: BulkView) {
  const { waiting, given, gotOn, failedAgain, notAnswered, refused, gone, total } = view.counts ?? {}
  return { waiting, given, gotOn, failedAgain, notAnswered, refused, gone, total }
}

describe('A bulk job', () => {
  it('retries all that wait, the canaries first, and says who got on', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 30)
    fixture.services.otherwise = () => 'success'
    const calls = fixture.services.calls.length
    const job = await node.engine.bulk.create(ORDER, BY)
    expect(job).toMatchObject({ state: 'canary', canary: 4, counts: { total: 30, waiting: 30 } })
    await untilState(fixture, node, job, 'watching')
    expect(fixture.services.calls.length - calls).toBeLessThanOrEqual(4)
    const done = await untilState(fixture, node, job, 'done')
    expect(count(done)).toEqual({
      total: 30,
      waiting: 0,
      given: 30,
      gotOn: 30,
      failedAgain: 0,
      notAnswered: 0,
      refused: 0,
      gone: 0,
    })
    expect(fixture.services.calls.length - calls).toBe(30)
    expect(await fixture.unfinished()).toBe(0)
    const view = await node.get('saga-7')
    expect(view?.trail).toEqual([
      expect.objectContaining({ command: 'retry', reason: 'the bank is mended', bulk: job.id }),
    ])
  })

  it('pauses after the canaries if the bank is not mended, and leaves all others alone', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 30)
    const calls = fixture.services.calls.length
    const job = await node.engine.bulk.create(ORDER, BY)
    const paused = await untilState(fixture, node, job, 'paused')
    expect(paused.pausedBy).toBe('canary')
    expect(count(paused)).toMatchObject({ total: 30, waiting: 26, given: 4, failedAgain: 4, gotOn: 0 })
    await fixture.time.advance(120_000)
    expect(fixture.services.calls.length - calls).toBe(4)
    fixture.services.otherwise = () => 'success'
    await node.engine.bulk.command(job.id, 'resume')
    const done = await untilState(fixture, node, job, 'done')
    expect(count(done)).toMatchObject({ total: 30, given: 30, gotOn: 26, failedAgain: 4 })
  })

  it('gives each transaction the command once, though its node dies and another one goes on', async () => {
    const fixture = new Fixture()
    const [first, second] = [await fixture.node(PATIENT), await fixture.node(PATIENT)]
    await strand(fixture, first, 60)
    fixture.services.otherwise = () => 'success'
    const calls = fixture.services.calls.length
    const job = await first.engine.bulk.create({ ...ORDER, canary: 0, ratePerSecond: 20 }, BY)
    await fixture.time.until(
      'some were given',
      async () => ((await second.engine.bulk.show(job.id)).counts?.given ?? 0) >= 20,
    )
    first.kill()
    vi.setSystemTime(START_AT + 60_000)
    const done = await untilState(fixture, second, job, 'done')
    expect(count(done)).toMatchObject({ total: 60, given: 60, gotOn: 60, waiting: 0 })
    expect(fixture.services.calls.length - calls).toBe(60)
    for (let number = 0; number < 60; number++) {
      const trail = (await second.get(`saga-${number}`))?.trail ?? []
      expect(trail.map(({ id, count: times }) => [id, times])).toEqual([[job.id, undefined]])
    }
  })

  it('counts what is refused by its code, what is gone, and pauses when too many are refused', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await node.submit(buildSaga('ended', 1), { waitMs: 1_000 })
    await strand(fixture, node, 60)
    fixture.services.otherwise = () => 'success'
    const gids = ['ended', 'nowhere', 'saga-0'] as Gid[]
    const job = await node.engine.bulk.create({ ...ORDER, choice: { gids }, canary: 0 }, BY)
    const done = await untilState(fixture, node, job, 'done')
    expect(count(done)).toMatchObject({ total: 3, given: 1, refused: 1, gone: 1 })
    expect(done.counts?.refusedBy).toEqual({ SAGA_ALREADY_FINAL: 1 })
    expect(done.counts?.refusals).toEqual([{ gid: 'ended', code: 'SAGA_ALREADY_FINAL' }])
  })

  it('is paused, resumed and cancelled by people, on any node', async () => {
    const fixture = new Fixture()
    const [first, second] = [await fixture.node(PATIENT), await fixture.node(PATIENT)]
    await strand(fixture, first, 150)
    fixture.services.otherwise = () => 'success'
    const job = await first.engine.bulk.create({ ...ORDER, canary: 0, ratePerSecond: 10 }, BY)
    await fixture.time.advance(3_000)
    expect(await second.engine.bulk.command(job.id, 'pause')).toMatchObject({ pausedBy: 'person' })
    await fixture.time.advance(20_000)
    const stands = count(await second.engine.bulk.show(job.id))
    await fixture.time.advance(20_000)
    expect(count(await second.engine.bulk.show(job.id)).waiting).toBe(stands.waiting)
    await second.engine.bulk.command(job.id, 'resume')
    await fixture.time.advance(2_000)
    const cancelled = await first.engine.bulk.command(job.id, 'cancel')
    expect(cancelled.state).toBe('cancelled')
    await fixture.time.advance(20_000)
    const { waiting = 0, total } = count(await first.engine.bulk.show(job.id))
    expect(waiting).toBeGreaterThan(0)
    expect(waiting).toBeLessThan(total ?? 0)
    expect(await readCode(first.engine.bulk.command(job.id, 'resume'))).toBe('SAGA_JOB_ENDED')
  })
})

describe('The preview of a bulk job', () => {
  it('counts and groups what would be commanded, and changes nothing', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 25)
    const updates = node.store.count('update')
    expect(await node.engine.bulk.preview(ORDER)).toMatchObject({
      count: 25,
      isExact: true,
      groups: [{ problem: expect.stringContaining('bank.test action'), count: 25 }],
    })
    expect(await node.engine.bulk.preview({ ...ORDER, max: 10 })).toMatchObject({ count: 10, isExact: false })
    expect(node.store.count('update')).toBe(updates)
  })

  it('finds an unknown job nowhere, and refuses a fourth that has not ended', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 2)
    const order = { ...ORDER, choice: { gids: ['saga-0', 'saga-1'] as Gid[] } }
    expect(await readCode(node.engine.bulk.show('abcdefghijklmnop'))).toBe('SAGA_UNKNOWN_JOB')
    for (let number = 0; number < 3; number++) {
      const { id } = await node.engine.bulk.create(order, BY)
      await node.engine.bulk.command(id, 'pause')
    }
    expect(await readCode(node.engine.bulk.create(order, BY))).toBe('SAGA_TOO_MANY_JOBS')
    expect((await node.engine.bulk.list()).length).toBe(3)
  })
})
