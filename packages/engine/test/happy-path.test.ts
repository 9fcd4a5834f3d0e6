import { describe, expect, it, onTestFinished } from 'vitest'
import { Fixture } from './support/fixture.ts'
import type { Answer } from './support/participants.ts'
import { branchId, buildBranch, buildParallel, buildSaga } from './support/sagas.ts'

const MINUTE = { checkpointMs: 60_000 }

describe('a saga that succeeds', () => {
  it('A saga calls its branches in order, once each, and ends as succeeded', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const view = await node.submit(buildSaga('a', 3), { waitMs: 10_000 })
    expect(view).toMatchObject({ gid: 'a', status: 'succeeded', ack: 'durable', epoch: 1 })
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action', '03 action'])
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '02 action', '03 action'])
    expect(await fixture.status('a')).toBe('succeeded')
    expect(node.seen.finishes).toEqual(['succeeded'])
    expect(node.engine.health()).toMatchObject({ ready: true, inFlight: 0 })
  })

  it.each([2, 20])('costs one create and one update with %i branches', async (branches) => {
    const fixture = new Fixture()
    const node = await fixture.node(MINUTE)
    fixture.services.otherwise = async (): Promise<Answer> => {
      await fixture.time.delay(30)
      return 'success'
    }
    await node.submit(buildSaga('a', branches))
    await fixture.untilStatus('a', 'succeeded')
    expect([node.store.count('create'), node.store.count('update')]).toEqual([1, 1])
    expect(fixture.services.listCalls('a')).toHaveLength(branches)
  })

  it('Branches that do not wait for each other are called at once', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(MINUTE)
    const request = buildParallel('a', 3)
    const last = buildBranch('a', '04', { after: ['01', '02', '03'] })
    const answers = ['01', '02', '03'].map((id) => fixture.services.defer('a', id, 'action'))
    await node.submit({ ...request, branches: [...request.branches, last] })
    await fixture.time.flush()
    expect(fixture.services.listCalls('a')).toEqual(['01 action', '02 action', '03 action'])
    for (const one of answers.slice(0, 2)) one.answer('success')
    await fixture.time.advance(100)
    expect(fixture.services.listCalls('a')).toHaveLength(3)
    answers[2]?.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(fixture.services.listCalls('a').at(-1)).toBe('04 action')
    expect(node.store.writes).toBe(2)
  })

  it('The actions that nothing will undo say so in their calls, and no others', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const marked: string[] = []
    fixture.services.onArrival = ({ branchId, op, hasNoUndo }) => {
      if (hasNoUndo === true) marked.push(`${branchId} ${op}`)
    }
    const { compensation: _, ...bare } = buildBranch('a', '02')
    const { compensation: __, ...sure } = buildBranch('a', '03')
    const branches = [
      buildBranch('a', '01'),
      { ...bare, role: 'pivot' as const },
      { ...sure, role: 'retriable' as const },
    ]
    await node.submit({ gid: 'a', branches }, { waitMs: 10_000 })
    await node.submit({ gid: 'b', branches: [buildBranch('b', '01'), bare] }, { waitMs: 10_000 })
    expect(fixture.services.calls).toHaveLength(5)
    expect(marked).toEqual(['02 action', '02 action'])
  })

  it('Long forms of one instant are sent by turns of the event loop, since each is read before', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    let turn = 0
    const turns = { json: new Set<number>(), form: new Set<number>() }
    const all = Object.keys(turns) as (keyof typeof turns)[]
    fixture.services.onArrival = ({ gid }) => turns[gid as keyof typeof turns].add(turn)
    let next = setImmediate(function count() {
      turn += 1
      next = setImmediate(count)
    })
    onTestFinished(() => clearImmediate(next))
    for (const gid of all) {
      const content =
        gid === 'json'
          ? { payload: 'x'.repeat(100_000) }
          : { body: 'x'.repeat(100_000), contentType: 'application/x-www-form-urlencoded' }
      const { payload: _, ...branch } = buildBranch(gid, '01')
      const branches = ['a', 'b', 'c'].map((id) => ({ ...branch, id, after: [], ...content }))
      await node.submit({ gid, branches }, { waitMs: 10_000 })
    }
    expect([turns.json.size, turns.form.size]).toEqual([1, 3])
  })

  it('A request without a gid gets one', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const { gid: _, ...request } = buildSaga('a')
    const view = await node.submit(request, { waitMs: 1_000 })
    expect(view.gid).toMatch(/^made-/)
    expect(await fixture.status(view.gid)).toBe('succeeded')
  })
})

describe('a saga that fails', () => {
  it.each([2, 20])('costs one create and two updates with %i branches', async (branches) => {
    const fixture = new Fixture()
    const node = await fixture.node(MINUTE)
    const last = branchId(branches - 1)
    fixture.services.script('a', last, 'action', 'failure')
    const view = await node.submit(buildSaga('a', branches), { waitMs: 10_000 })
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'branch-failed', branchId: last } })
    expect([node.store.count('create'), node.store.count('update')]).toEqual([1, 2])
    const undone = fixture.services.listCalls('a').slice(branches)
    expect(undone).toEqual(
      Array.from({ length: branches }, (_, position) => `${branchId(branches - 1 - position)} compensate`),
    )
  })

  it('A failed saga gives the failed branch a null compensation and undoes the others', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '02', 'action', 'failure')
    await node.submit(buildSaga('a', 3), { waitMs: 10_000 })
    expect(fixture.services.listCalls('a')).toEqual([
      '01 action',
      '02 action',
      '02 compensate',
      '01 compensate',
    ])
    expect(fixture.services.listEffects('a')).toEqual(['01 action', '01 compensate'])
  })

  it('A saga aborts when the retry limit of an action is used up', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '02', 'action', 'unknown', 'unknown', 'unknown')
    await node.submit(buildSaga('a', 2, { retry: { limit: 3 } }))
    await fixture.untilStatus('a', 'failed')
    expect((await node.get('a'))?.abort?.cause).toBe('retry-limit')
    expect(fixture.services.listCalls('a').filter((call) => call === '02 action')).toHaveLength(3)
  })

  it('A saga asks for attention when a compensation answers failure, and goes on', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '01', 'action', 'failure')
    fixture.services.script('a', '01', 'compensate', 'failure')
    await node.submit(buildSaga('a'))
    await fixture.time.until('attention', async () => (await fixture.row('a')).attention)
    await fixture.untilStatus('a', 'failed')
    expect((await fixture.row('a')).attention).toBe(false)
  })

  it('A saga reports once, with the reason, each time that it begins to ask for attention', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const reported = () => node.seen.named('transaction-needs-attention')
    fixture.services.script('a', '01', 'action', 'failure')
    fixture.services.otherwise = () => 'failure'
    await node.submit(buildSaga('a'))
    await fixture.time.until('many compensations', () => fixture.services.listCalls('a').length > 5)
    const event = {
      level: 'warn',
      name: 'transaction-needs-attention',
      gid: 'a',
      detail: 'compensation of branch 01 answered failure',
    }
    expect(reported()).toEqual([event])
    await node.command('retry', 'a')
    await fixture.time.until('the answer to the retry', () => reported().length > 1)
    expect(reported()).toEqual([event, event])
    fixture.services.otherwise = () => 'success'
    await fixture.untilStatus('a', 'failed')
    expect(reported()).toHaveLength(2)
  })
})

describe('progress', () => {
  it('Progress is saved after checkpointMs, and no call waits for that', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ checkpointMs: 1_000 })
    const second = fixture.services.defer('a', '02', 'action')
    await node.submit(buildSaga('a', 3))
    await fixture.time.advance(999)
    expect(node.store.writes).toBe(1)
    await fixture.time.advance(1)
    expect(node.store.writes).toBe(2)
    expect((await fixture.row('a')).progress).toContain('"state":"succeeded"')
    await fixture.time.advance(5_000)
    expect(node.store.writes).toBe(2)
    second.answer('success')
    await fixture.untilStatus('a', 'succeeded')
    expect(node.store.writes).toBe(3)
  })

  it('Progress is durable before each next call in strict mode', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    const savedBefore: number[] = []
    fixture.services.onArrival = () => savedBefore.push(node.store.count('update'))
    fixture.services.script('a', '03', 'action', 'failure')
    await node.submit(buildSaga('a', 3, { checkpointMs: 0 }), { waitMs: 10_000 })
    expect(fixture.services.listCalls('a')).toHaveLength(6)
    expect(savedBefore).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('Progress of a retried branch is durable before its next call', async () => {
    const fixture = new Fixture()
    const node = await fixture.node(MINUTE)
    fixture.services.script('a', '01', 'action', 'unknown', 'ongoing')
    const progress: string[] = []
    fixture.services.onArrival = ({ attempt }) => {
      if (attempt > 1) progress.push(node.store.updates.at(-1)?.progress ?? '')
    }
    await node.submit(buildSaga('a', 1))
    await fixture.untilStatus('a', 'succeeded')
    expect(progress.map((text) => /"waits":(\d)/.exec(text)?.[1])).toEqual(['1', '2'])
  })
})
