import { describe, expect, it } from 'vitest'
import { Bed } from './support/bed.ts'
import type { Answer } from './support/participants.ts'
import { branchId, buildBranch, buildParallel, buildSaga } from './support/sagas.ts'

const MINUTE = { checkpointMs: 60_000 }

describe('a saga that succeeds', () => {
  it('A saga calls its branches in order, once each, and ends as succeeded', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const view = await node.submit(buildSaga('a', 3), { waitMs: 10_000 })
    expect(view).toMatchObject({ gid: 'a', status: 'succeeded', ack: 'durable', epoch: 1 })
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action', '03 action'])
    expect(bed.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
    expect(await bed.status('a')).toBe('succeeded')
    expect(node.seen.finishes).toEqual(['succeeded'])
    expect(node.engine.health()).toMatchObject({ ready: true, inFlight: 0 })
  })

  it.each([2, 20])('costs one create and one update with %i branches', async (branches) => {
    const bed = new Bed()
    const node = await bed.node(MINUTE)
    bed.services.otherwise = async (): Promise<Answer> => {
      await bed.time.delay(30)
      return 'success'
    }
    await node.submit(buildSaga('a', branches))
    await bed.untilStatus('a', 'succeeded')
    expect([node.store.count('create'), node.store.count('update')]).toEqual([1, 1])
    expect(bed.services.listCalls('a')).toHaveLength(branches)
  })

  it('Branches that do not wait for each other are called at once', async () => {
    const bed = new Bed()
    const node = await bed.node(MINUTE)
    const request = buildParallel('a', 3)
    const last = buildBranch('a', '04', { after: ['01', '02', '03'] })
    const answers = ['01', '02', '03'].map((id) => bed.services.defer('a', id, 'action'))
    await node.submit({ ...request, branches: [...request.branches, last] })
    await bed.time.flush()
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action', '03 action'])
    for (const one of answers.slice(0, 2)) one.answer('success')
    await bed.time.advance(100)
    expect(bed.services.listCalls('a')).toHaveLength(3)
    answers[2]?.answer('success')
    await bed.untilStatus('a', 'succeeded')
    expect(bed.services.listCalls('a').at(-1)).toBe('04 action')
    expect(node.store.writes).toBe(2)
  })

  it('A request without a gid gets one', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const { gid: _, ...request } = buildSaga('a')
    const view = await node.submit(request, { waitMs: 1_000 })
    expect(view.gid).toMatch(/^made-/)
    expect(await bed.status(view.gid)).toBe('succeeded')
  })
})

describe('a saga that fails', () => {
  it.each([2, 20])('costs one create and two updates with %i branches', async (branches) => {
    const bed = new Bed()
    const node = await bed.node(MINUTE)
    const last = branchId(branches - 1)
    bed.services.script('a', last, 'action', 'failure')
    const view = await node.submit(buildSaga('a', branches), { waitMs: 10_000 })
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'branch-failed', branchId: last } })
    expect([node.store.count('create'), node.store.count('update')]).toEqual([1, 2])
    const undone = bed.services.listCalls('a').slice(branches)
    expect(undone).toEqual(
      Array.from({ length: branches }, (_, position) => `${branchId(branches - 1 - position)} compensate`),
    )
  })

  it('A failed saga gives the failed branch a null compensation and undoes the others', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.script('a', '02', 'action', 'failure')
    await node.submit(buildSaga('a', 3), { waitMs: 10_000 })
    expect(bed.services.listCalls('a')).toEqual(['01 action', '02 action', '02 compensate', '01 compensate'])
    expect(bed.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A saga aborts when the retry limit of an action is used up', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.script('a', '02', 'action', 'unknown', 'unknown', 'unknown')
    await node.submit(buildSaga('a', 2, { retry: { limit: 3 } }))
    await bed.untilStatus('a', 'failed')
    expect((await node.get('a'))?.abort?.cause).toBe('retry-limit')
    expect(bed.services.listCalls('a').filter((call) => call === '02 action')).toHaveLength(3)
  })

  it('A saga asks for attention when a compensation answers failure, and goes on', async () => {
    const bed = new Bed()
    const node = await bed.node()
    bed.services.script('a', '01', 'action', 'failure')
    bed.services.script('a', '01', 'compensate', 'failure')
    await node.submit(buildSaga('a'))
    await bed.time.until('attention', async () => (await bed.row('a')).attention)
    await bed.untilStatus('a', 'failed')
    expect((await bed.row('a')).attention).toBe(false)
  })

  it('A saga reports once, with the reason, each time that it begins to ask for attention', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const reported = () => node.seen.named('transaction-needs-attention')
    bed.services.script('a', '01', 'action', 'failure')
    bed.services.otherwise = () => 'failure'
    await node.submit(buildSaga('a'))
    await bed.time.until('many compensations', () => bed.services.listCalls('a').length > 5)
    const event = {
      level: 'warn',
      name: 'transaction-needs-attention',
      gid: 'a',
      detail: 'compensation of branch 01 answered failure',
    }
    expect(reported()).toEqual([event])
    await node.command('retry', 'a')
    await bed.time.until('the answer to the retry', () => reported().length > 1)
    expect(reported()).toEqual([event, event])
    bed.services.otherwise = () => 'success'
    await bed.untilStatus('a', 'failed')
    expect(reported()).toHaveLength(2)
  })
})

describe('progress', () => {
  it('Progress is saved after checkpointMs, and no call waits for that', async () => {
    const bed = new Bed()
    const node = await bed.node({ checkpointMs: 1_000 })
    const second = bed.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a', 3))
    await bed.time.advance(999)
    expect(node.store.writes).toBe(1)
    await bed.time.advance(1)
    expect(node.store.writes).toBe(2)
    expect((await bed.row('a')).progress).toContain('"state":"succeeded"')
    await bed.time.advance(5_000)
    expect(node.store.writes).toBe(2)
    second.answer('success')
    await bed.untilStatus('a', 'succeeded')
    expect(node.store.writes).toBe(3)
  })

  it('Progress is durable before each next call in strict mode', async () => {
    const bed = new Bed()
    const node = await bed.node()
    const savedBefore: number[] = []
    bed.services.onArrival = () => savedBefore.push(node.store.count('update'))
    bed.services.script('a', '03', 'action', 'failure')
    await node.submit(buildSaga('a', 3, { checkpointMs: 0 }), { waitMs: 10_000 })
    expect(bed.services.listCalls('a')).toHaveLength(6)
    expect(savedBefore).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('Progress of a retried branch is durable before its next call', async () => {
    const bed = new Bed()
    const node = await bed.node(MINUTE)
    bed.services.script('a', '01', 'action', 'unknown', 'ongoing')
    const progress: string[] = []
    bed.services.onArrival = ({ attempt }) => {
      if (attempt > 1) progress.push(node.store.updates.at(-1)?.progress ?? '')
    }
    await node.submit(buildSaga('a', 1))
    await bed.untilStatus('a', 'succeeded')
    expect(progress.map((text) => /"waits":(\d)/.exec(text)?.[1])).toEqual(['1', '2'])
  })
})
