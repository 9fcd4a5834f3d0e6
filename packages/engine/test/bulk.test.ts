import { BULK_DRAFT_MS } from '@counterstep/core'
import type { BulkView, Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import type { BulkOrder } from '../src/bulk/bulk-jobs.ts'
import { heldBefore } from './support/fault-store.ts'
import { Fixture, type TestNode } from './support/fixture.ts'
import { Gate } from './support/gate.ts'
import { buildSaga, readCode, watched } from './support/sagas.ts'

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
  it('Reads few rows at once of those that it looks after, and all of them in turn', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 23)
    const job = await node.engine.bulk.create({ ...ORDER, canary: 0 }, BY)
    const reads: (readonly Gid[])[] = []
    node.store.readMany = async (gids) => {
      reads.push(gids)
      return await fixture.store.readMany(gids)
    }
    // Nothing answers, so each of them is read back until the job ends.
    await untilState(fixture, node, job, 'done')
    expect(Math.max(...reads.map((gids) => gids.length))).toBeLessThanOrEqual(5)
    expect(new Set(reads.flat()).size).toBe(23)
  })

  it('Acts on none that has come to match since its preview', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 5)
    const { count: previewedCount, previewed = '' } = await node.engine.bulk.preview(ORDER)
    expect(previewedCount).toBe(5)
    await strand(fixture, node, 12)
    expect((await node.engine.bulk.preview(ORDER)).count).toBe(12)
    // Those that came later are due later, and one that is due first must not take the place of a previewed one.
    const choice = { ...ORDER.choice, previewed }
    const job = await node.engine.bulk.create({ ...ORDER, choice, max: 5 }, BY)
    expect(job.counts?.total).toBe(5)
    fixture.services.otherwise = () => 'success'
    await untilState(fixture, node, job, 'done')
    const views = await Promise.all(
      Array.from({ length: 12 }, (_, at) => node.engine.read(`saga-${at}` as Gid)),
    )
    expect(views.map((view) => view?.status)).toEqual([
      ...Array(5).fill('succeeded'),
      ...Array(7).fill('submitted'),
    ])
  })

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
    // A repeated command is answered only when what it finds cannot be lost any more.
    const gate = new Gate()
    second.store.on('settle', heldBefore(gate))
    const again = watched(second.engine.bulk.command(job.id, 'cancel'))
    await fixture.time.flush()
    expect(again.isSettled).toBe(false)
    gate.open()
    await fixture.time.flush()
    expect(again.value?.state).toBe('cancelled')
    await fixture.time.advance(20_000)
    const { waiting = 0, total } = count(await first.engine.bulk.show(job.id))
    expect(waiting).toBeGreaterThan(0)
    expect(waiting).toBeLessThan(total ?? 0)
    expect(await readCode(first.engine.bulk.command(job.id, 'resume'))).toBe('SAGA_JOB_ENDED')
  })
})

describe('A bulk job whose world changes', () => {
  it('goes on within seconds after a pause and a resume that its worker had no time to see', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(PATIENT)
    await strand(fixture, node, 150)
    fixture.services.otherwise = () => 'success'
    const job = await node.engine.bulk.create({ ...ORDER, canary: 0, ratePerSecond: 10 }, BY)
    await fixture.time.advance(3_000)
    await node.engine.bulk.command(job.id, 'pause')
    await node.engine.bulk.command(job.id, 'resume')
    const { given: before = 0 } = count(await node.engine.bulk.show(job.id))
    await fixture.time.advance(7_000)
    // At ten a second, 50 more are given even if two seconds are lost.
    expect(count(await node.engine.bulk.show(job.id)).given).toBeGreaterThanOrEqual(before + 50)
  })

  it('counts a transaction as gone that was purged before its answer was read back', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ ...PATIENT, retentionMs: 100 })
    await strand(fixture, node, 3)
    fixture.services.otherwise = (call) => (call.gid === 'saga-1' ? 'success' : 'unknown')
    const job = await node.engine.bulk.create({ ...ORDER, canary: 0 }, BY)
    await fixture.time.until(
      'the saga has ended',
      async () => (await fixture.status('saga-1')) === 'succeeded',
    )
    await fixture.time.advance(200)
    expect(await fixture.store.purgeFinished(10)).toEqual({ purged: 1 })
    const done = await untilState(fixture, node, job, 'done')
    expect(count(done)).toMatchObject({
      total: 3,
      given: 2,
      failedAgain: 2,
      notAnswered: 0,
      gone: 1,
      waiting: 0,
    })
  })
})

describe('The list of a bulk job', () => {
  const countDocuments = async ({ store }: Fixture, id: string) =>
    (await store.readDocuments(`bulk-${id}`)).length + (await store.readDocuments('bulk')).length
  const isJob = ({ category }: { readonly category: string }) => category === 'bulk'

  it('is no job before it is whole, and is removed with its draft when its node has died', async () => {
    const fixture = new Fixture()
    const [first, second] = [await fixture.node(PATIENT), await fixture.node(PATIENT)]
    await strand(fixture, first, 3)
    fixture.services.otherwise = () => 'success'
    let drafts = 0
    const diesAtTheJob = async <Answer>(apply: () => Promise<Answer>): Promise<Answer> => {
      drafts += 1
      if (drafts === 2) first.kill()
      return drafts === 2 ? await new Promise(() => undefined) : await apply()
    }
    first.store.on('write-document', diesAtTheJob, { times: 2, when: isJob })
    void first.engine.bulk.create(ORDER, BY)
    await fixture.time.until('the list is stored', async () => drafts === 2)
    const [document] = await fixture.store.readDocuments('bulk')
    const { key: id = '' } = document ?? {}
    expect(await countDocuments(fixture, id)).toBe(2)
    expect(await second.engine.bulk.list()).toEqual([])
    expect(await readCode(second.engine.bulk.show(id))).toBe('SAGA_UNKNOWN_JOB')
    expect(await readCode(second.engine.bulk.command(id, 'resume'))).toBe('SAGA_UNKNOWN_JOB')
    const calls = fixture.services.calls.length
    await fixture.time.advance(BULK_DRAFT_MS - 20_000)
    expect(await countDocuments(fixture, id)).toBe(2)
    await fixture.time.advance(40_000)
    expect(await countDocuments(fixture, id)).toBe(0)
    expect(fixture.services.calls.length).toBe(calls)
  })

  it('is removed by its own node if that was so slow that its draft was given up', async () => {
    const fixture = new Fixture()
    const [first, second] = [await fixture.node(PATIENT), await fixture.node(PATIENT)]
    await strand(fixture, first, 3)
    const isPart = ({ category }: { readonly category: string }) => category !== 'bulk'
    let isDelayed = false
    const isLate = async <Answer>(apply: () => Promise<Answer>): Promise<Answer> => {
      isDelayed = true
      const isGone = async () => (await fixture.store.readDocuments('bulk')).length === 0
      await fixture.time.until('the draft is gone', isGone, BULK_DRAFT_MS + 20_000)
      return await apply()
    }
    first.store.on('write-document', isLate, { when: isPart })
    expect(await readCode(first.engine.bulk.create(ORDER, BY))).toBe('SAGA_CONTENDED')
    expect(isDelayed).toBe(true)
    const id = first.store.calls
      .map(({ request }) => request as { readonly category?: string } | undefined)
      .find((request) => request?.category?.startsWith('bulk-') === true)
      ?.category?.slice('bulk-'.length)
    expect(await countDocuments(fixture, id ?? 'none')).toBe(0)
    expect(await second.engine.bulk.list()).toEqual([])
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
