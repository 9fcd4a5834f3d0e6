import { type JournalEntry, NEXT_STEPS_MAX, type PlanAnswer, type PlanCall } from '@counterstep/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StepCode } from './barrier.ts'
import { Failure } from './failure.ts'
import { interpret } from './interpret.ts'
import { type Ended, play, type Reply } from './orchestrator.ts'
import { anyFork, anyNode, type Leaf, type Node, runNode } from './random-program.ts'
import { program } from './write-program.ts'

/** Which of several pending ends comes next, and which calls fail, drawn in advance and used again and again. */
const draws = fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 30 })
const faults = fc.record({
  grants: fc.constantFrom(0, 0, 1, 3, 8),
  asks: fc.integer({ min: 1, max: 3 }),
  together: fc.integer({ min: 1, max: 3 }),
  lost: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
  killAfter: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  inlineMax: fc.array(fc.constantFrom(1, 2, 99), { minLength: 1, maxLength: 3 }),
})

it('The pump does what the interpreter does, in any order of ends and however often plans are asked', async () => {
  await fc.assert(
    fc.asyncProperty(anyNode, draws, faults, async (node, drawn, fault) => {
      const ended = await playNode(node, drawn, fault)
      expectSame(node, ended)
    }),
    { seed: 3_741, numRuns: 1_500 },
  )
}, 120_000)

it('It does so where steps run within a plan that others are asked for in, and where one plan has no room for all', async () => {
  await fc.assert(
    fc.asyncProperty(anyFork, draws, faults, async (node, drawn, fault) => {
      expectSame(node, await playNode(node, drawn, { ...fault, together: 3 }))
    }),
    { seed: 3_742, numRuns: 200 },
  )
}, 120_000)

async function playNode(
  node: Node,
  drawn: readonly number[],
  {
    lost,
    killAfter,
    ...fault
  }: {
    readonly grants: number
    readonly asks: number
    readonly together: number
    readonly lost: readonly number[]
    readonly killAfter: number | undefined
    readonly inlineMax: readonly number[]
  },
): Promise<Ended> {
  let at = 0
  const draw = (): number => drawn[at++ % drawn.length] ?? 0
  const reply = (name: string): Reply =>
    draw() < 30 ? { failed: { code: `${name} no`, message: '' } } : { value: draw() }
  const ids = ['a', 'b', 'c', 'd'].flatMap((id) => [
    id,
    ...Array.from({ length: 200 }, (_, more) => `${id}.${more + 2}`),
  ])
  const replies = Object.fromEntries(ids.map((id) => [id, reply(id)]))
  const refuseOrDo: StepCode = (_input, attempt) => {
    if (attempt === 1 && draw() < 30) throw new Failure('step no')
    return 'stepped'
  }
  return play([program((ctx) => runNode(ctx, node))], {
    ...fault,
    asks: killAfter === undefined ? fault.asks : 1,
    replies,
    steps: { a: refuseOrDo, b: () => 'b', c: () => ({ c: [1] }), d: () => null },
    lostPlans: new Set(lost),
    ...(killAfter === undefined ? {} : { killAfter }),
    choose: (pending) => pending[draw() % pending.length] ?? '',
  })
}

/** Compares what each plan has asked for, in its order, and how the program has ended. */
function expectSame(node: Node, { calls, answers, end, finalJournal }: Ended): void {
  calls.forEach((call, at) => {
    const known = [...call.journal, ...call.pending].map(({ id }) => id)
    const before = interpret(node, call.journal)
    expect(before.unasked).toEqual([])
    expect(before.asks.map(({ id }) => id)).toEqual(expect.arrayContaining(known))
    const answer = answers[at]
    if (answer !== undefined) expectPlan(node, call, answer)
  })
  const { end: interpreted } = interpret(node, finalJournal)
  if (interpreted === undefined) throw new Error('the pump has ended before the interpreter')
  if ('failed' in interpreted)
    expect(end).toEqual({ failed: expect.objectContaining({ code: interpreted.failed }) })
  else expect(end).toEqual({ done: toJson(interpreted.value) })
}

function expectPlan(node: Node, call: PlanCall, { ran, next, then }: PlanAnswer): void {
  // A failure is delivered by the next plan.
  const delivered = ran.filter(({ failed }) => failed === undefined) as unknown as JournalEntry[]
  const { asks, end } = interpret(node, [...call.journal, ...delivered])
  const known = new Set([...call.journal, ...call.pending, ...ran].map(({ id }) => id))
  const fresh = asks.filter(({ id }) => !known.has(id))
  const isFailed = end !== undefined && 'failed' in end
  const isWanted = (each: Leaf): boolean => {
    if (isFailed || each.do === 'run') return false
    return each.do === 'call' || each.do === 'step' || end === undefined
  }
  const wanted = fresh.filter(isWanted)
  const calls = wanted.filter((each) => each.do !== 'step').map(({ id }) => id)
  const others = next.filter(({ is }) => is !== 'step').map(({ id }) => id)
  expect(others).toEqual(next.length === NEXT_STEPS_MAX ? calls.slice(0, others.length) : calls)
  const steps = wanted.filter((each) => each.do === 'step').map(({ id }) => id)
  const planned = next.filter(({ is }) => is === 'step').map(({ id }) => id)
  expect(planned).toEqual(then === 'now' ? steps.slice(0, planned.length) : steps)
}

function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null))
}
