// The table of programs: what each does in a world, however often its plans are asked and wherever answers are lost.
import type { PlanContext } from '@counterstep/workflow'
import { refuse } from './barrier.ts'
import { Failure } from './failure.ts'
import type { Ended, World } from './orchestrator.ts'
import { call, caught, step, toCall } from './write-program.ts'

export interface Row {
  readonly title: string
  readonly run: (ctx: PlanContext, input: unknown) => unknown
  readonly world?: World
  readonly end: Ended['end']
  readonly journal: readonly string[]
  /** How many plans it takes without grants. */
  readonly plans?: number
  /** The same with grants of eight slots. */
  readonly grantedPlans?: number
}

const NO = { failed: { code: 'NO', message: 'no' } }
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

export const ROWS: readonly Row[] = [
  {
    title: 'a function that asks for nothing',
    run: () => 7,
    end: { done: 7 },
    journal: [],
    plans: 1,
  },
  {
    title: 'a function without a result gets its input',
    run: async (ctx, input) => void (await call(ctx, 'a', input)),
    world: { input: { cents: 5 } },
    end: { done: null },
    journal: ['a={"of":"a"}'],
    plans: 2,
  },
  {
    title: 'two calls, one after the other',
    run: async (ctx) => [await call(ctx, 'a'), await call(ctx, 'b')],
    world: { replies: { a: { value: 1 }, b: { value: 2 } } },
    end: { done: [1, 2] },
    journal: ['a=1', 'b=2'],
    plans: 3,
  },
  {
    title: 'three local steps, one after the other',
    run: async (ctx) => [await step(ctx, 'a'), await step(ctx, 'b'), await step(ctx, 'c')],
    world: { steps: { a: () => 1, b: () => 2, c: () => 3 } },
    end: { done: [1, 2, 3] },
    journal: ['a=1', 'b=2', 'c=3'],
    plans: 4,
    grantedPlans: 1,
  },
  {
    title: 'ten local steps take two grants of eight',
    run: async (ctx) => {
      for (const at of range(10)) await step(ctx, `s${at}`)
    },
    world: { steps: Object.fromEntries(range(10).map((at) => [`s${at}`, () => at])) },
    end: { done: null },
    journal: range(10).map((at) => `s${at}=${at}`),
    plans: 11,
    grantedPlans: 2,
  },
  {
    title: 'ctx.all plans once for all of its calls',
    run: (ctx) => ctx.all([call(ctx, 'a'), call(ctx, 'b'), call(ctx, 'c')]),
    world: {
      replies: { a: { value: 1, afterMs: 9 }, b: { value: 2, afterMs: 1 }, c: { value: 3, afterMs: 5 } },
    },
    end: { done: [1, 2, 3] },
    journal: ['b=2', 'c=3', 'a=1'],
    plans: 2,
  },
  {
    title: 'Promise.all costs a plan for each end',
    run: (ctx) => Promise.all([call(ctx, 'a'), call(ctx, 'b'), call(ctx, 'c')]),
    world: { replies: { a: { value: 1 }, b: { value: 2 }, c: { value: 3 } } },
    end: { done: [1, 2, 3] },
    journal: ['a=1', 'b=2', 'c=3'],
    plans: 4,
  },
  {
    title: 'a failure in ctx.all is seen at once, and the others go on',
    run: (ctx) => caught(ctx.all([call(ctx, 'a'), call(ctx, 'b'), ctx.sleep('nap', 86_400_000)])),
    world: { replies: { a: { value: 1, afterMs: 50 }, b: { ...NO, afterMs: 5 } } },
    end: { done: 'caught no' },
    journal: ['b!NO', 'a=1'],
    plans: 3,
  },
  {
    title: 'a race has the winner that came first, and the end waits for the loser',
    run: (ctx) => ctx.race([call(ctx, 'slow'), call(ctx, 'fast')]),
    world: { replies: { slow: { value: 's', afterMs: 90 }, fast: { value: 'f', afterMs: 3 } } },
    end: { done: 'f' },
    journal: ['fast="f"', 'slow="s"'],
    plans: 3,
  },
  {
    title: 'a race against a sleep, whose end is dropped',
    run: (ctx) => ctx.race([call(ctx, 'a'), ctx.sleep('limit', 1_000)]),
    world: { replies: { a: { value: 'in time', afterMs: 30 } } },
    end: { done: 'in time' },
    journal: ['a="in time"'],
    plans: 2,
  },
  {
    title: 'a race that the sleep wins goes on beside the call',
    run: async (ctx) => {
      const first = await ctx.race([call(ctx, 'a'), ctx.sleep('limit', 10)])
      return [first ?? 'too late', await call(ctx, 'b')]
    },
    world: { replies: { a: { value: 1, afterMs: 15 }, b: { value: 2, afterMs: 100 } } },
    end: { done: ['too late', 2] },
    journal: ['limit', 'a=1', 'b=2'],
  },
  {
    title: 'an all that could lose against one of its own',
    run: (ctx) => {
      const a = call(ctx, 'a')
      return ctx.race([ctx.all([a, call(ctx, 'b')]), a])
    },
    world: { replies: { a: { value: 1, afterMs: 1 }, b: { value: 2, afterMs: 90 } } },
    end: { done: 1 },
    journal: ['a=1', 'b=2'],
    plans: 3,
  },
  {
    title: 'an all within a race',
    run: (ctx) =>
      ctx.race([ctx.all([call(ctx, 'a'), call(ctx, 'b')]), ctx.all([call(ctx, 'c'), call(ctx, 'd')])]),
    world: {
      replies: {
        a: { value: 1, afterMs: 1 },
        b: { value: 2, afterMs: 40 },
        c: { value: 3, afterMs: 2 },
        d: { value: 4, afterMs: 3 },
      },
    },
    end: { done: [3, 4] },
    journal: ['a=1', 'c=3', 'd=4', 'b=2'],
  },
  {
    title: 'a race within an all',
    run: (ctx) => ctx.all([ctx.race([call(ctx, 'a'), call(ctx, 'b')]), call(ctx, 'c')]),
    world: {
      replies: { a: { value: 1, afterMs: 9 }, b: { value: 2, afterMs: 4 }, c: { value: 3, afterMs: 6 } },
    },
    end: { done: [2, 3] },
    journal: ['b=2', 'c=3', 'a=1'],
  },
  {
    title: 'nested alls with chains inside',
    run: (ctx) => {
      const chain = async (name: string) => [await call(ctx, `${name}1`), await call(ctx, `${name}2`)]
      return ctx.all([chain('a'), ctx.all([chain('b'), call(ctx, 'c')])])
    },
    world: {
      replies: Object.fromEntries(['a1', 'a2', 'b1', 'b2', 'c'].map((id) => [id, { value: id }])),
    },
    end: {
      done: [
        ['a1', 'a2'],
        [['b1', 'b2'], 'c'],
      ],
    },
    journal: ['a1="a1"', 'b1="b1"', 'c="c"', 'a2="a2"', 'b2="b2"'],
  },
  {
    title: 'a failure that leaves the function turns the workflow around',
    run: async (ctx) => [await call(ctx, 'a'), await call(ctx, 'b')],
    world: { replies: { a: NO } },
    end: { failed: { code: 'NO', message: 'no' } },
    journal: ['a!NO'],
    plans: 2,
  },
  {
    title: 'a failure of its own',
    run: async (ctx) => {
      await call(ctx, 'a')
      throw new Failure('SOLD_OUT')
    },
    world: { replies: { a: { value: 1 } } },
    end: { failed: { code: 'SOLD_OUT', message: 'SOLD_OUT' } },
    journal: ['a=1'],
  },
  {
    title: 'a failed call is caught, and another one is made',
    run: async (ctx) => [await caught(call(ctx, 'card')), await call(ctx, 'invoice')],
    world: { replies: { card: NO, invoice: { value: 1 } } },
    end: { done: ['caught no', 1] },
    journal: ['card!NO', 'invoice=1'],
    plans: 3,
  },
  {
    title: 'a failed step is caught, and the plan ends behind it',
    run: async (ctx) => [await step(ctx, 'a'), await caught(step(ctx, 'b')), await step(ctx, 'c')],
    world: { steps: { a: () => 1, b: refuse('B_NO'), c: () => 3 } },
    end: { done: [1, 'caught B_NO', 3] },
    journal: ['a=1', 'b!B_NO', 'c=3'],
    plans: 4,
    grantedPlans: 3,
  },
  {
    title: 'a loop tries again with the same id',
    run: async (ctx) => {
      for (let attempt = 1; ; attempt++) {
        const payment = await caught(call(ctx, 'charge', { attempt }))
        if (payment === 'paid') return attempt
        await ctx.sleep('pause', 1_000)
      }
    },
    world: { replies: { charge: NO, 'charge.2': NO, 'charge.3': { value: 'paid' } } },
    end: { done: 3 },
    journal: ['charge!NO', 'pause', 'charge.2!NO', 'pause.2', 'charge.3="paid"'],
    plans: 6,
  },
  {
    title: 'a signal that comes in time',
    run: (ctx) => ctx.signal('approved', 'approval', { timeoutMs: 60_000 }),
    world: { replies: { approval: { value: { by: 'kim' }, afterMs: 500 } } },
    end: { done: { by: 'kim' } },
    journal: ['approved={"by":"kim"}'],
    plans: 2,
  },
  {
    title: 'a signal that does not come',
    run: async (ctx) => {
      const yes = await ctx.signal('approved', 'approval', { timeoutMs: 60_000 })
      if (yes === undefined) throw new Failure('NOT_APPROVED')
    },
    end: { failed: { code: 'NOT_APPROVED', message: 'NOT_APPROVED' } },
    journal: ['approved'],
  },
  {
    title: 'a sleep, and the time behind it',
    run: async (ctx) => {
      const before = ctx.now()
      await ctx.sleep('nap', 3_600_000)
      return [before, ctx.now()]
    },
    end: { done: [1_000, 3_601_000] },
    journal: ['nap'],
  },
  {
    title: 'the time of a place is that of the plan that first reached it',
    run: async (ctx) => {
      const times = [ctx.now()]
      await call(ctx, 'a')
      times.push(ctx.now())
      await ctx.run('r', () => 1)
      times.push(ctx.now())
      await ctx.sleep('nap', 100)
      times.push(ctx.now())
      await call(ctx, 'b')
      return times
    },
    world: { replies: { a: { value: 1, afterMs: 7 }, b: { value: 2, afterMs: 5 } } },
    end: { done: [1_000, 1_007, 1_007, 1_107] },
    journal: ['a=1', 'r=1', 'nap', 'b=2'],
  },
  {
    title: 'a pivot and what follows it',
    run: async (ctx) => {
      await step(ctx, 'reserve')
      const { value, ctx: sure } = await ctx.pivot({ id: 'pay', ...toCall({}, 'svc:/pay') })
      return [value, await call(sure, 'mail'), await sure.step({ name: 'note', hasUndo: false, input: 1 })]
    },
    world: {
      steps: { reserve: () => 'r', note: () => 'n' },
      replies: { pay: { value: 'p' }, mail: { value: 'm' } },
    },
    end: { done: ['p', 'm', 'n'] },
    journal: ['reserve="r"', 'pay="p"', 'mail="m"', 'note="n"'],
  },
  {
    title: 'a pivot waits for what stands beside it',
    run: (ctx) =>
      Promise.all([
        ctx.pivot({ id: 'pay', ...toCall({}, 'svc:/pay') }).then(({ value }) => value),
        call(ctx, 'a'),
        ctx.sleep('short', 1).then(() => 'awake'),
      ]),
    world: { replies: { a: { value: 1, afterMs: 50 }, pay: { value: 2 } } },
    end: { done: [2, 1, 'awake'] },
    journal: ['short', 'a=1', 'pay=2'],
  },
  {
    title: 'a pivot that is refused, after which steps can still be undone',
    run: async (ctx) => {
      const paid = await caught(ctx.pivot({ id: 'pay', ...toCall({}, 'svc:/pay') }))
      return [paid, await call(ctx, 'release')]
    },
    world: { replies: { pay: NO, release: { value: 1 } } },
    end: { done: ['caught no', 1] },
    journal: ['pay!NO', 'release=1'],
  },
  {
    title: 'a local step as the pivot has a call of its own',
    run: async (ctx) => {
      const { value } = await ctx.pivot({ name: 'book', hasUndo: false, input: 1 })
      return value
    },
    world: { steps: { book: () => 'b' } },
    end: { done: 'b' },
    journal: ['book="b"'],
    plans: 2,
    grantedPlans: 2,
  },
  {
    title: 'a patch of a new workflow',
    run: async (ctx) => (ctx.patched('v2') ? await call(ctx, 'new') : await call(ctx, 'old')),
    world: { replies: { new: { value: 1 } } },
    end: { done: 1 },
    journal: ['v2=true', 'new=1'],
    plans: 2,
  },
  {
    title: 'the next generation begins with an empty journal',
    run: async (ctx, input) => {
      const { left, sum } = input as { left: number; sum: number }
      const added = (await call(ctx, 'add', left)) as number
      if (left === 1) return [sum + added, ctx.info.generation]
      return ctx.continueWith({ left: left - 1, sum: sum + added })
    },
    world: { input: { left: 3, sum: 0 }, replies: { add: { value: 10 } } },
    end: { done: [30, 3] },
    journal: ['add=10'],
    plans: 6,
  },
  {
    title: 'a continue behind steps, which are kept',
    run: async (ctx, input) => {
      await step(ctx, 'reserve')
      return input === 'last' ? 'done' : ctx.continueWith('last', { keep: true })
    },
    world: { input: 'first', steps: { reserve: () => 1 } },
    end: { done: 'done' },
    journal: ['reserve=1'],
    grantedPlans: 2,
  },
  {
    title: 'a step behind a ctx.run waits for the next plan, and a call does not',
    run: async (ctx) => {
      const price = await ctx.run('quote', () => 4)
      await call(ctx, 'tell', price)
      const other = await ctx.run('again', () => 5)
      return step(ctx, 'charge', [price, other])
    },
    world: { replies: { tell: { value: 1 } }, steps: { charge: (input) => input } },
    end: { done: [4, 5] },
    journal: ['quote=4', 'tell=1', 'again=5', 'charge=[4,5]'],
    plans: 3,
    grantedPlans: 3,
  },
  {
    title: 'a ctx.run that fails is caught',
    run: async (ctx) => [
      await caught(
        ctx.run('check', () => {
          throw new Failure('BAD')
        }),
      ),
      await ctx.run('next', async () => 'n'),
    ],
    end: { done: ['caught BAD', 'n'] },
    journal: ['check!BAD', 'next="n"'],
    plans: 2,
  },
  {
    title: 'runs beside each other run one after the other',
    run: (ctx) => ctx.all([ctx.run('a', () => 1), call(ctx, 'b'), ctx.run('c', () => 3)]),
    world: { replies: { b: { value: 2 } } },
    end: { done: [1, 2, 3] },
    journal: ['a=1', 'c=3', 'b=2'],
    plans: 2,
  },
  {
    title: 'steps beside each other get calls of their own',
    run: (ctx) => ctx.all([step(ctx, 'a'), step(ctx, 'b'), call(ctx, 'c')]),
    world: { steps: { a: () => 1, b: () => 2 }, replies: { c: { value: 3 } } },
    end: { done: [1, 2, 3] },
    journal: ['a=1', 'b=2', 'c=3'],
    plans: 2,
    grantedPlans: 2,
  },
  {
    title: 'steps of two chains have calls of their own where they are asked for at the same time',
    run: (ctx) => Promise.all([step(ctx, 'a'), step(ctx, 'b')]),
    world: { steps: { a: () => 1, b: () => 2 } },
    end: { done: [1, 2] },
    journal: ['a=1', 'b=2'],
    plans: 3,
    grantedPlans: 3,
  },
  {
    title: 'a failed step beside a chain that goes on',
    run: async (ctx) => {
      const chain = async () => [await call(ctx, 'a'), await step(ctx, 'b'), await step(ctx, 'c')]
      return ctx.all([chain(), caught(step(ctx, 'no')), caught(call(ctx, 'never'))])
    },
    world: {
      steps: { no: refuse('NO'), b: () => 2, c: () => 3 },
      replies: { a: { value: 1, afterMs: 50 }, never: NO },
    },
    end: { done: [[1, 2, 3], 'caught NO', 'caught no'] },
    journal: ['no!NO', 'never!NO', 'a=1', 'b=2', 'c=3'],
  },
  {
    title: 'one id twice at the same time',
    run: (ctx) => ctx.all([call(ctx, 'a', 1), call(ctx, 'a', 2)]),
    world: { replies: { a: { value: 1, afterMs: 9 }, 'a.2': { value: 2, afterMs: 4 } } },
    end: { done: [1, 2] },
    journal: ['a.2=2', 'a=1'],
    plans: 2,
  },
  {
    title: 'a call that is not awaited is awaited by the end',
    run: (ctx) => {
      void call(ctx, 'a')
      return 'early'
    },
    world: { replies: { a: { value: 1 } } },
    end: { done: 'early' },
    journal: ['a=1'],
    plans: 2,
  },
  {
    title: 'a promise that is awaited long after it failed',
    run: async (ctx) => {
      const early = call(ctx, 'a')
      await ctx.sleep('nap', 500)
      return caught(early)
    },
    world: { replies: { a: NO } },
    end: { done: 'caught no' },
    journal: ['a!NO', 'nap'],
  },
  {
    title: 'more calls at once than one answer has',
    run: async (ctx) => (await ctx.all(range(250).map((at) => call(ctx, `c${at}`)))).length,
    world: {
      replies: Object.fromEntries(range(250).map((at) => [`c${at}`, { value: at, afterMs: 10 + at }])),
    },
    end: { done: 250 },
    journal: range(250).map((at) => `c${at}=${at}`),
    plans: 4,
  },
  {
    title: 'chance that is the same on each replay',
    run: async (ctx) => {
      const drawn = [ctx.random(), ctx.uuid()]
      await call(ctx, 'a', drawn)
      return [...drawn, ctx.random() < 1]
    },
    world: { replies: { a: { value: 1 } } },
    // Workflows that run would go another way if these changed.
    end: { done: [0.40776804063406225, '8721d5c1-6479-4582-80c2-edef16b3abbb', true] },
    journal: ['a=1'],
  },
  {
    title: 'deep chains of native promises between two asks',
    run: async (ctx) => {
      const deep = async (depth: number): Promise<number> => (depth === 0 ? 0 : 1 + (await deep(depth - 1)))
      const racer = async (id: string, depth: number) => [await call(ctx, id), await deep(depth)][0]
      return ctx.race([racer('a', 500), racer('b', 1)])
    },
    world: { replies: { a: { value: 1, afterMs: 1 }, b: { value: 2, afterMs: 2 } } },
    end: { done: 1 },
    journal: ['a=1', 'b=2'],
  },
  {
    title: 'an input that the function changes after it asked',
    run: async (ctx) => {
      const order = { items: ['a'] }
      const first = step(ctx, 'echo', order)
      order.items.push('b')
      const echoed = (await first) as { items: string[] }
      echoed.items.push('c')
      return [echoed, await step(ctx, 'echo', order)]
    },
    world: { steps: { echo: (input) => input } },
    end: { done: [{ items: ['a', 'c'] }, { items: ['a', 'b'] }] },
    journal: ['echo={"items":["a"]}', 'echo.2={"items":["a","b"]}'],
    grantedPlans: 1,
  },
]
