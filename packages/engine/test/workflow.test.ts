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

/** Answers a plan call: first a local step, then a call, and at last the outcome, or the next generation. */
function answerPlan({ body }: BranchCall, outcome: unknown, generations: number): BranchAnswer {
  const { gid, generation, plan, journal } = JSON.parse(body) as PlanCall
  const slot = `~${generation}`
  const step = { ...STEP, branch: { ...STEP.branch, slot } }
  const next = [[step], [PAY], []][journal.length] ?? []
  const isBefore = generation < generations
  const end = journal.length < 2 ? 'all' : isBefore ? { continue: { cents: generation } } : outcome
  const answer = {
    v: 1,
    gid,
    version: 1,
    generation,
    plan,
    ran: [],
    next,
    ...Object.fromEntries([['then', end]]),
  }
  return { result: 'success', statusCode: 200, body: JSON.stringify(answer) }
}

async function startOrder(outcome: unknown, generations = 1) {
  const fixture = new Fixture()
  const calls: BranchCall[] = []
  const node = await fixture.node()
  fixture.services.otherwise = async (call) => {
    calls.push(call)
    if (call.op === 'plan') return answerPlan(call, outcome, generations)
    await fixture.time.delay(1)
    return { result: 'success', statusCode: 200, body: `{"id":${calls.length}}` }
  }
  await node.engine.accept(readSubmission())
  await fixture.time.advance(2_000)
  return { calls, node, view: await node.engine.get(GID) }
}

/** Starts workflows whose handler answers each plan with this text, and counts the calls of each for ten seconds. */
async function countPlanCalls(
  count: number,
  text: string,
  fixture = new Fixture(),
): Promise<readonly number[]> {
  const node = await fixture.node({ branchTimeoutMs: 1_000 })
  const calls = new Map<string, number>()
  fixture.services.otherwise = ({ gid, body }) => {
    calls.set(gid, (calls.get(gid) ?? 0) + 1)
    const { plan } = JSON.parse(body) as PlanCall
    const head = { v: 1, gid, version: 1, generation: 1, plan, ran: [], next: [] }
    return {
      result: 'success',
      statusCode: 200,
      body: `${JSON.stringify({ ...head, ...Object.fromEntries([['then', { done: 1 }]]) }).slice(0, -1)}${text}}`,
    }
  }
  for (let at = 0; at < count; at++) {
    const gid = `w${at}` as Gid
    await node.engine.accept({ ...readSubmission({ retry: { ...RETRY, capMs: 100 } }), gid })
  }
  await fixture.time.advance(10_000)
  return [...calls.values()]
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

  it('goes on as a new generation, whose calls have ids and an accept of their own, for one write more', async () => {
    const { calls, node, view } = await startOrder({ failed: { code: 'NO', message: '' } }, 2)
    const createdAt = view?.createdAt ?? 0
    const first = calls.filter(({ acceptedAt }) => acceptedAt === createdAt)
    const later = calls.filter(({ acceptedAt }) => acceptedAt > createdAt)
    expect(first.map(({ branchId, op }) => `${branchId} ${op}`)).toEqual([
      ...['00 plan', '~1 action', '00 plan', 'pay action', '00 plan'],
    ])
    expect(later.map(({ branchId, op }) => `${branchId} ${op}`)).toEqual([
      ...['00 plan', '~2 action', '00 plan', 'pay~2 action', '00 plan'],
      ...['pay~2 compensate', '~2 compensate'],
    ])
    const begunAt = view?.workflow?.generationAt
    expect(new Set(later.map(({ acceptedAt }) => acceptedAt))).toEqual(new Set([begunAt]))
    expect(view).toMatchObject({ status: 'failed', workflow: { generation: 2 } })
    // One for each plan with steps, the begin, the abort decision and the end.
    expect(node.store.count('update')).toBe(7)
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
      await node.engine.accept(readSubmission({ version: 1, grants: 8 }))
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
    await node.engine.accept(readSubmission({ version: 1, grants: 3 }))
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
      ...{ v: 1, workflow: 'order', version: 1 },
      idempotencyKey: `${GID}/~3/undo`,
    })
  })

  it('whose plans are large and bad has them read one after the other', async () => {
    const bad = `,"x":"${'y'.repeat(1_000_000)}"`
    const calls = await countPlanCalls(20, bad)
    // 31 places of 5 ms each are 155 ms apart, so 65 are read in ten seconds, and each of them was asked twice.
    expect(calls.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2 * 65 + 20)
    expect(Math.min(...calls)).toBeGreaterThan(2)
    const small = await countPlanCalls(20, ',"x":"y"')
    expect(small.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(200)
  })

  it('whose plans take long to read has them read in a tenth of the time', async () => {
    const fixture = new Fixture()
    // Each look at the URL of a step stands for 25 ms of reading.
    fixture.checkUrl = (url) => {
      if (url.startsWith('http://slow.test')) fixture.time.now += 25
      return undefined
    }
    const steps = ['a', 'a'].map((id) => ({ ...PAY, id, branch: { action: 'http://slow.test/' } }))
    const text = `,"next":${JSON.stringify(steps)}${' '.repeat(1_000_000)}`
    const calls = await countPlanCalls(20, text, fixture)
    // After a first round at the pace of its size, a plan is read each 155 + 9 × 50 ms. At the pace of its size it would be 150.
    expect(calls.reduce((sum, number) => sum + number, 0)).toBeLessThan(110)
  })

  it('whose plans are small and take long to read has them read in a tenth of the time, too', async () => {
    const fixture = new Fixture()
    let readings = 0
    fixture.checkUrl = (url) => {
      if (!url.startsWith('http://slow.test')) return undefined
      readings++
      fixture.time.now += 5
      return undefined
    }
    const steps = ['a', 'a'].map((id) => ({ ...PAY, id, branch: { action: 'http://slow.test/' } }))
    const before = fixture.time.now
    await countPlanCalls(300, `,"next":${JSON.stringify(steps)}${' '.repeat(20_000)}`, fixture)
    // Two looks are one reading of 10 ms, and one second more is for those that were read before the first rest was known.
    expect(readings * 5).toBeLessThan((fixture.time.now - before) / 10 + 1_000)
  })

  it('cannot save up the turns of its large plans and have them all read at once', async () => {
    const fixture = new Fixture()
    const releaseAt = fixture.time.now + 8_000
    const readAt: number[] = []
    fixture.checkUrl = (url) => {
      if (!url.startsWith('http://slow.test')) return undefined
      readAt.push(fixture.time.now)
      fixture.time.now += 50
      return undefined
    }
    const next = [{ ...PAY, id: 'a', branch: { action: 'http://slow.test/' } }]
    const node = await fixture.node()
    const asked = new Set<string>()
    fixture.services.otherwise = async ({ gid, body }) => {
      const { plan } = JSON.parse(body) as PlanCall
      if (asked.has(gid)) await fixture.time.delay(Math.max(0, releaseAt - fixture.time.now))
      asked.add(gid)
      const head = { v: 1, gid, version: 1, generation: 1, plan, ran: [], next }
      const bad = JSON.stringify({ ...head, ...Object.fromEntries([['then', 'soon']]) })
      return { result: 'success', statusCode: 200, body: `${bad.slice(0, -1)}${' '.repeat(1_000_000)}}` }
    }
    for (let at = 0; at < 20; at++)
      await node.engine.accept({ ...readSubmission({ timeoutMs: 20_000 }), gid: `w${at}` as Gid })
    await fixture.time.advance(10_000)
    const together = readAt.filter((at) => at >= releaseAt && at < releaseAt + 1_000)
    expect(together.length).toBeGreaterThan(0)
    expect(together.length).toBeLessThanOrEqual(3)
  })

  it('whose process stood while it read a plan has the next ones read soon all the same', async () => {
    const fixture = new Fixture()
    let stoodMs = 5_000
    fixture.checkUrl = (url) => {
      if (!url.startsWith('http://slow.test')) return undefined
      fixture.time.now += stoodMs
      stoodMs = 0
      return undefined
    }
    const steps = ['a', 'a'].map((id) => ({ ...PAY, id, branch: { action: 'http://slow.test/' } }))
    const calls = await countPlanCalls(
      20,
      `,"next":${JSON.stringify(steps)}${' '.repeat(1_000_000)}`,
      fixture,
    )
    // Without a bound the turns after the first round would come 45 s later.
    expect(calls.reduce((sum, number) => sum + number, 0)).toBeGreaterThan(2 * 20)
  })

  it('whose plans are large and good ends, however many come at once', async () => {
    const spaces = ' '.repeat(1_000_000)
    const calls = await countPlanCalls(20, spaces)
    expect(calls).toHaveLength(20)
    expect(Math.max(...calls)).toBeLessThanOrEqual(2)
  })

  it('whose journal is large plans at a pace, and ends all the same', async () => {
    const fixture = new Fixture()
    const node = await fixture.node({ branchTimeoutMs: 1_000 })
    let plans = 0
    fixture.services.otherwise = ({ gid, body }) => {
      plans++
      const { plan } = JSON.parse(body) as PlanCall
      const ran = [{ id: `r${plan}`, is: 'run', name: 'r', value: 'v'.repeat(30_000) }]
      const isLast = plan === 20
      const answer = { v: 1, gid, version: 1, generation: 1, plan, ran: isLast ? [] : ran, next: [] }
      const end = Object.fromEntries([['then', isLast ? { done: 1 } : 'now']])
      return { result: 'success', statusCode: 200, body: JSON.stringify({ ...answer, ...end }) }
    }
    const gids = Array.from({ length: 10 }, (_, at) => `w${at}` as Gid)
    for (const gid of gids) await node.engine.accept({ ...readSubmission(), gid })
    await fixture.time.advance(1_000)
    // Each plan takes 5 ms for each 32 KiB of its row. The first one has a place, so it is made at once.
    expect(plans).toBeGreaterThan(10)
    expect(plans).toBeLessThanOrEqual(10 + 1_000 / 10)
    for (const gid of gids) await fixture.untilStatus(gid, 'succeeded')
    expect(plans).toBe(200)
  })
})
