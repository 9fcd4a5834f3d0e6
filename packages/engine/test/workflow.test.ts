import { type BranchAnswer, type BranchCall, parseSubmission } from '@counterstep/core'
import type { Gid, PlanCall } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'

const GID = 'a' as Gid
const RETRY = { initialMs: 100, factor: 2, capMs: 1_000, jitter: 0, limit: null }
const DEFAULTS = { retry: RETRY, timeoutMs: 1_000, checkpointMs: 1_000, acceptNewKinds: true }

function readSubmission(more: object = {}) {
  const body = {
    gid: GID,
    kind: 'workflow',
    workflow: 'order',
    handler: 'http://shop.test/',
    input: { cents: 5 },
    ...more,
  }
  const parsed = parseSubmission(body, DEFAULTS, () => undefined)
  if (parsed.type === 'refused') throw new Error('the submit was refused')
  return { ...parsed.submission, gid: GID }
}

const STEP = { id: 'hold', is: 'step', name: 'hold', branch: { slot: '~1', input: 5, undo: true } }
const UNDO = { url: 'http://bank.test/undo', template: { of: { $from: 'pay', at: '/id' } } }
const PAY = {
  id: 'pay',
  is: 'call',
  name: 'bank',
  branch: { action: 'http://bank.test/pay', payload: { cents: 5 }, compensation: UNDO },
}

/** Answers a plan call: first a local step, then a call, and at last the outcome. */
function answerPlan({ body }: BranchCall, outcome: unknown): BranchAnswer {
  const { gid, plan, journal } = JSON.parse(body) as PlanCall
  const next = [[STEP], [PAY], []][journal.length] ?? []
  const end = journal.length === 2 ? outcome : 'all'
  const answer = {
    v: 1,
    gid,
    version: 1,
    generation: 1,
    plan,
    ran: [],
    next,
    ...Object.fromEntries([['then', end]]),
  }
  return { result: 'success', statusCode: 200, body: JSON.stringify(answer) }
}

async function startOrder(outcome: unknown) {
  const fixture = new Fixture()
  const calls: BranchCall[] = []
  const node = await fixture.node()
  fixture.services.otherwise = (call) => {
    calls.push(call)
    if (call.op === 'plan') return answerPlan(call, outcome)
    return { result: 'success', statusCode: 200, body: `{"id":${calls.length}}` }
  }
  await node.engine.accept(readSubmission())
  await fixture.time.advance(2_000)
  return { calls, node, view: await node.engine.get(GID) }
}

describe('a workflow', () => {
  it('ends with what its code returned, and its calls are those of a saga but for the handler', async () => {
    const { calls, node, view } = await startOrder({ done: { ok: true } })
    expect(view).toMatchObject({
      kind: 'workflow',
      status: 'succeeded',
      result: { ok: true },
      workflow: { name: 'order', version: 1, generation: 1, plan: 3, steps: 2 },
      branches: [
        { id: '~1', is: 'step', name: 'hold', stepId: 'hold', rank: 1 },
        { id: 'pay', is: 'call', rank: 2 },
      ],
    })
    expect(calls.map(({ op, kind, branchId }) => `${kind} ${branchId} ${op}`)).toEqual([
      'workflow 00 plan',
      'workflow ~1 action',
      'workflow 00 plan',
      'saga pay action',
      'workflow 00 plan',
    ])
    // The accept, one for each plan with steps, and the end.
    expect(node.store.count('update')).toBe(3)
  })

  it('is undone when its code fails, the last planned first, and each undo gets what its action answered', async () => {
    const { calls, view } = await startOrder({ failed: { code: 'NO', message: 'not today' } })
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'workflow-failed', code: 'NO' } })
    const undone = calls.filter(({ op }) => op === 'compensate')
    expect(undone.map(({ branchId }) => branchId)).toEqual(['pay', '~1'])
    expect(undone.map(({ body }) => JSON.parse(body))).toMatchObject([
      { of: 4 },
      { step: 'hold', value: { id: 2 } },
    ])
  })

  it('of a handler that answers no plan waits for a person, and nothing is undone', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.otherwise = () => ({ result: 'success', statusCode: 200, body: '<html></html>' })
    await node.engine.accept(readSubmission())
    await fixture.time.advance(500)
    expect(await node.engine.get(GID)).toMatchObject({
      status: 'submitted',
      problem: 'order plan bad-plan',
      attention: 'the plan cannot be carried out: the answer is not JSON',
    })
  })
})

/** Answers a plan call as a handler does whose function runs so many local steps, each within the call if it has a slot left. */
function answerLocal({ body }: BranchCall, count: number): BranchAnswer {
  const { gid, plan, journal, grant } = JSON.parse(body) as PlanCall
  const slots = Array.from({ length: grant.count }, (_, index) => grant.from + index)
  const ran = slots.slice(0, count - journal.length).map((slot) => ({
    id: `s${slot}`,
    is: 'step',
    name: `s${slot}`,
    slot: `~${slot}`,
    undo: true,
    value: slot,
  }))
  const isDone = journal.length + ran.length === count
  const then = Object.fromEntries([['then', isDone ? { done: count } : 'now']])
  const answer = { v: 1, gid, version: 1, generation: 1, plan, ran, next: [], ...then }
  return { result: 'success', statusCode: 200, body: JSON.stringify(answer) }
}

describe('a workflow with grants', () => {
  for (const [count, plans] of [
    [2, 1],
    [8, 1],
    [9, 2],
    [17, 3],
  ] as const) {
    it(`of ${count} local steps costs ${plans} calls, the accept and ${plans} writes`, async () => {
      const fixture = new Fixture()
      const calls: BranchCall[] = []
      const node = await fixture.node()
      fixture.services.otherwise = (call) => {
        calls.push(call)
        return answerLocal(call, count)
      }
      await node.engine.accept(readSubmission({ grants: 8 }))
      await fixture.time.advance(2_000)
      expect(await node.engine.get(GID)).toMatchObject({ status: 'succeeded', result: count })
      expect(calls.map(({ op }) => op)).toEqual(Array.from({ length: plans }, () => 'plan'))
      expect(node.store.count('update')).toBe(plans)
    })
  }

  it('is undone at the handler, one slot after the other from the highest, when no plan was answered', async () => {
    const fixture = new Fixture()
    const calls: BranchCall[] = []
    const node = await fixture.node()
    fixture.services.otherwise = (call) => {
      calls.push(call)
      return call.op === 'plan'
        ? { result: 'unknown', statusCode: 503 }
        : { result: 'success', statusCode: 200 }
    }
    await node.engine.accept(readSubmission({ grants: 3 }))
    await fixture.time.advance(50)
    await node.engine.abort(GID)
    await fixture.time.advance(2_000)
    expect(await node.engine.get(GID)).toMatchObject({
      status: 'failed',
      branches: ['~1', '~2', '~3'].map((id) => ({ id, name: `${id} (may have run)` })),
    })
    const undone = calls.filter(({ op }) => op !== 'plan')
    expect(undone.map(({ kind, op, branchId, url }) => `${kind} ${op} ${branchId} ${url}`)).toEqual(
      ['~3', '~2', '~1'].map((slot) => `workflow compensate ${slot} http://shop.test/`),
    )
    expect(JSON.parse(undone[0]?.body ?? '')).toEqual({
      ...{ v: 1, workflow: 'order' },
      idempotencyKey: `${GID}/~3/undo`,
    })
  })
})
