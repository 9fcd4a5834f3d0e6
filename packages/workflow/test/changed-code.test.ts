import type { PlanContext } from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'
import { play, type World } from './orchestrator.ts'
import { call, caught, program, step } from './write-program.ts'

type Run = (ctx: PlanContext) => Promise<unknown>

const a = (ctx: PlanContext) => call(ctx, 'a')
const b = (ctx: PlanContext) => call(ctx, 'b')
const c = (ctx: PlanContext) => call(ctx, 'c')
const old: Run = async (ctx) => [await a(ctx), await b(ctx), await c(ctx)]
const beside: Run = (ctx) => Promise.all([a(ctx), b(ctx)])
const isCall = (id: string) => ({ is: 'call', name: `svc:/${id}` })

/** The new code comes with the plan behind `a`, or with the one that is named. */
const REFUSED: readonly {
  readonly title: string
  readonly before?: Run
  readonly after: Run
  readonly world?: World
  readonly plan?: number
  readonly refused: object
}[] = [
  {
    title: 'two calls in the other order',
    after: async (ctx) => [await b(ctx), await a(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a') },
  },
  {
    title: 'a call that has another id',
    after: async (ctx) => [await call(ctx, 'renamed', {}, 'svc:/a'), await b(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a') },
  },
  {
    title: 'a call of another service',
    after: async (ctx) => [await call(ctx, 'a', {}, 'other:/a'), await b(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a'), asked: { is: 'call', name: 'other:/a' } },
  },
  {
    title: 'a call that is gone',
    after: async (ctx) => [await b(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a') },
  },
  {
    title: 'a call that is gone while it is pending',
    before: beside,
    after: async (ctx) => [await a(ctx), await c(ctx)],
    refused: { id: 'b', journaled: isCall('b') },
  },
  {
    title: 'a call that was the last one and is gone',
    plan: 4,
    after: async (ctx) => [await a(ctx), await b(ctx)],
    refused: { id: 'c', journaled: isCall('c') },
  },
  {
    title: 'another kind under the same id',
    after: async (ctx) => [await ctx.run('a', () => 1), await b(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a'), asked: { is: 'run', name: 'a' } },
  },
  {
    title: 'another kind of the same name',
    before: async (ctx) => [await ctx.run('a', () => 1), await b(ctx)],
    after: async (ctx) => [await ctx.sleep('a', 1), await b(ctx)],
    refused: { id: 'a', journaled: { is: 'run', name: 'a' }, asked: { is: 'timer', name: 'a' } },
  },
  {
    title: 'a step in place of a pending call',
    before: beside,
    after: (ctx) => Promise.all([a(ctx), step(ctx, 'b')]),
    refused: { id: 'b', journaled: isCall('b'), asked: { is: 'step', name: 'b' } },
  },
  {
    title: 'a new call before one that has ended',
    after: async (ctx) => [await call(ctx, 'new'), await a(ctx), await b(ctx), await c(ctx)],
    refused: { id: 'a', journaled: isCall('a') },
  },
  {
    title: 'a failure of the new code where the old one went on',
    plan: 3,
    after: async (ctx) => {
      await a(ctx)
      return ctx.sleep('nap', 1)
    },
    refused: { id: 'b', journaled: isCall('b') },
  },
  {
    title: 'a sleep that became a signal',
    before: async (ctx) => [await ctx.sleep('wait', 5), await a(ctx)],
    after: async (ctx) => [await ctx.signal('wait', 'go'), await a(ctx)],
    refused: { id: 'wait', journaled: { is: 'timer', name: 'wait' }, asked: { is: 'signal', name: 'go' } },
  },
  {
    title: 'a signal of another name',
    before: async (ctx) => [await ctx.signal('wait', 'go'), await a(ctx)],
    after: async (ctx) => [await ctx.signal('wait', 'run'), await a(ctx)],
    world: { replies: { go: { afterMs: 5 } } },
    refused: { id: 'wait', journaled: { is: 'signal', name: 'go' }, asked: { is: 'signal', name: 'run' } },
  },
]

describe('code that has changed', () => {
  it.each(REFUSED)('$title', async ({ before = old, after, world, plan = 2, refused }) => {
    const deploy = { plan, workflows: [program(after)] }
    const { end, calls } = await play([program(before)], { ...world, deploy })
    expect(end).toEqual({ refused: expect.objectContaining({ code: 'WORKFLOW_CHANGED', ...refused }) })
    expect(calls).toHaveLength(plan)
  })

  it('A refusal says what to do, and runs nothing', async () => {
    const after: Run = async (ctx) => [await step(ctx, 'new'), await a(ctx)]
    const ended = await play([program(old)], { grants: 8, deploy: { plan: 2, workflows: [program(after)] } })
    expect(ended.effects).toEqual([])
    expect(ended.end).toEqual({
      refused: expect.objectContaining({
        message: expect.stringMatching(/did not ask.*asks for new.*Nothing was undone/),
      }),
    })
  })

  it('New code behind what has been reached, and beside it, is no change', async () => {
    const after: Run = async (ctx) => {
      const chain = async () => [await a(ctx), await b(ctx)]
      return [...(await ctx.all([chain(), call(ctx, 'beside')])), await call(ctx, 'behind')]
    }
    const { end, journal } = await play([program(old)], { deploy: { plan: 2, workflows: [program(after)] } })
    expect(end).toEqual({ done: [[{ of: 'a' }, { of: 'b' }], { of: 'beside' }, { of: 'behind' }] })
    expect(journal.map((each) => each.split('=')[0])).toEqual(['a', 'beside', 'b', 'behind'])
  })

  it('A caught failure and another text of a payload are no change', async () => {
    const after: Run = async (ctx) => [
      await caught(call(ctx, 'a', 'another payload')),
      await b(ctx),
      await c(ctx),
    ]
    const { end } = await play([program(old)], { deploy: { plan: 2, workflows: [program(after)] } })
    expect(end).toEqual({ done: [{ of: 'a' }, { of: 'b' }, { of: 'c' }] })
  })

  it.each([1, 2, 3])(
    'A patch at plan %i leaves workflows on the old way that have passed the place',
    async (plan) => {
      const patched: Run = async (ctx) => [
        await a(ctx),
        ctx.patched('v2') ? await call(ctx, 'b2') : await b(ctx),
        await c(ctx),
      ]
      const { end, journal } = await play([program(old)], { deploy: { plan, workflows: [program(patched)] } })
      const isNew = plan <= 2
      expect(end).toEqual({ done: [{ of: 'a' }, { of: isNew ? 'b2' : 'b' }, { of: 'c' }] })
      expect(journal).toContain(`v2=${isNew}`)
    },
  )

  it('A patch that has decided may go from the code', async () => {
    const patched: Run = async (ctx) => [
      await a(ctx),
      ctx.patched('v2') ? await call(ctx, 'b2') : await b(ctx),
      await c(ctx),
    ]
    const without: Run = async (ctx) => [await a(ctx), await call(ctx, 'b2'), await c(ctx)]
    const { end } = await play([program(patched)], { deploy: { plan: 3, workflows: [program(without)] } })
    expect(end).toEqual({ done: [{ of: 'a' }, { of: 'b2' }, { of: 'c' }] })
  })
})

describe('versions', () => {
  const two = [
    program(async (ctx) => [1, await a(ctx)]),
    program(async (ctx) => [2, await a(ctx)], { version: 2 }),
  ]

  it('The newest version begins, and the first plan fixes it', async () => {
    const newer = program(async (ctx) => [3, await a(ctx)], { version: 3 })
    const { end, calls } = await play(two, { deploy: { plan: 2, workflows: [...two, newer] } })
    expect(end).toEqual({ done: [2, { of: 'a' }] })
    expect(calls.map(({ version }) => version)).toEqual([undefined, 2])
  })

  it('A version that is not there any more is refused', async () => {
    const { end } = await play(two, { deploy: { plan: 2, workflows: two.slice(0, 1) } })
    const message = 'version 2 of order is not deployed here: 1'
    expect(end).toEqual({ refused: { code: 'WORKFLOW_VERSION_UNKNOWN', message } })
  })

  it('A workflow that is not there is refused', async () => {
    const { end } = await play([program(async () => 1, { name: 'other' })])
    expect(end).toEqual({
      refused: { code: 'WORKFLOW_UNKNOWN', message: 'there is no workflow order here: other' },
    })
  })
})

describe('functions that use chance or a clock of their own', () => {
  it('A branch by Math.random is found when it comes to another call', async () => {
    const drawn = [0.1, 0.9]
    const flip: Run = async (ctx) => ((drawn.shift() ?? 0) < 0.5 ? a(ctx) : b(ctx))
    const { end } = await play([program(flip)])
    expect(end).toEqual({ refused: expect.objectContaining({ code: 'WORKFLOW_CHANGED', id: 'a' }) })
  })

  it('A branch by Date.now is found when it comes to another call', async () => {
    let now = 0
    const late: Run = async (ctx) => {
      now += 1_000
      return now > 1_500 ? ctx.sleep('nap', 1) : a(ctx)
    }
    const { end } = await play([program(late)])
    expect(end).toEqual({ refused: expect.objectContaining({ code: 'WORKFLOW_CHANGED', id: 'a' }) })
  })

  it('An id by chance is found', async () => {
    let at = 0
    const { end } = await play([program((ctx) => call(ctx, `a${at++}`))])
    expect(end).toEqual({ refused: expect.objectContaining({ code: 'WORKFLOW_CHANGED', id: 'a0' }) })
  })

  it('A slot that holds another step is refused, and the order is not undone', async () => {
    const names = ['first', 'second']
    const flip: Run = (ctx) => step(ctx, names.shift() ?? 'third')
    const { end, effects } = await play([program(flip)], { grants: 8, killAfter: 1 })
    expect(end).toEqual({ refused: { code: 'SLOT_TAKEN', message: '~1 is first, not second' } })
    expect(effects).toEqual(['~1 first'])
  })
})
