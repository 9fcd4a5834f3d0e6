// When a plan says that the next one is due once all have ended, the function must have nothing to do before.
import type { JournalEntry, PlanAnswer, PlanCall } from '@counterstep/protocol'
import { answerPlan, type PlanContext } from '@counterstep/workflow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure, readFailure } from './failure.ts'
import { call, program } from './write-program.ts'

type Run = (ctx: PlanContext) => Promise<unknown>

const a = (ctx: PlanContext) => call(ctx, 'a')
const b = (ctx: PlanContext) => call(ctx, 'b')
const c = (ctx: PlanContext) => call(ctx, 'c')

describe('when the next plan is due', () => {
  it.each<[string, PlanAnswer['then'], Run]>([
    ['a group', 'all', (ctx) => ctx.all([a(ctx), b(ctx)])],
    ['a group of groups', 'all', (ctx) => ctx.all([ctx.all([a(ctx), b(ctx)]), c(ctx)])],
    ['a group with what has ended', 'all', (ctx) => ctx.all([a(ctx), b(ctx), Promise.resolve(1), 2])],
    [
      'a group of which nothing is done with one member',
      'all',
      async (ctx) => {
        const [first, second] = [a(ctx), b(ctx)]
        return [await ctx.all([first, second]), await first]
      },
    ],
    ['several calls, as Promise.all waits', 'any', (ctx) => Promise.all([a(ctx), b(ctx)])],
    ['a race', 'any', (ctx) => ctx.race([a(ctx), b(ctx)])],
    ['a group with a race', 'any', (ctx) => ctx.all([ctx.race([a(ctx), b(ctx)]), c(ctx)])],
    [
      'one of a group that is kept',
      'any',
      async (ctx) => {
        const [first, second] = [a(ctx), b(ctx)]
        const group = ctx.all([first, second])
        await first
        return [await c(ctx), await group]
      },
    ],
    [
      'a group with what waits for another member',
      'any',
      (ctx) => {
        const first = a(ctx)
        const chain = async () => {
          await first
          return c(ctx)
        }
        return ctx.all([first, b(ctx), chain()])
      },
    ],
    [
      'a group, beside something that waits for one member',
      'any',
      (ctx) => {
        const first = a(ctx)
        void first.then(() => c(ctx))
        return ctx.all([first, b(ctx)])
      },
    ],
    [
      'a group with what waits for a smaller group',
      'any',
      (ctx) => {
        const group = ctx.all([a(ctx), b(ctx)])
        const chain = group.then(() => call(ctx, 'd'))
        return ctx.all([group, c(ctx), chain])
      },
    ],
    ['two groups', 'any', (ctx) => Promise.all([ctx.all([a(ctx), b(ctx)]), ctx.all([c(ctx)])])],
    [
      'one call, beside a group',
      'any',
      async (ctx) => {
        const group = ctx.all([a(ctx), b(ctx)])
        return [await c(ctx), await group]
      },
    ],
  ])('The function waits for %s', async (_title, then, run) => {
    expect((await ask(run, [], [])).then).toBe(then)
  })

  it('What lost a race may stand in a group', async () => {
    const run: Run = async (ctx) => {
      const loser = b(ctx)
      await ctx.race([a(ctx), loser])
      return ctx.all([loser, c(ctx)])
    }
    expect((await ask(run, [end('a')], ['b'])).then).toBe('all')
  })
})

/** A promise that is made of earlier ones, whose numbers are in `of`. */
type Made =
  | { readonly make: 'call' }
  | { readonly make: 'all' | 'race' | 'native' | 'chain'; readonly of: readonly number[] }

const number = fc.nat({ max: 8 })
const made: fc.Arbitrary<Made> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ make: 'call' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      make: fc.constantFrom('all', 'all', 'all', 'race', 'native', 'chain'),
      of: fc.array(number, { minLength: 1, maxLength: 3 }),
    }),
  },
)

/** Makes the promises, awaits some of them in turn, and then all that there are. */
function toRun(parts: readonly Made[], awaited: readonly number[]): Run {
  return async (ctx) => {
    const promises: Promise<unknown>[] = [call(ctx, 'c')]
    const pick = (at: number) => promises[at % promises.length] as Promise<unknown>
    for (const part of parts) promises.push(make(ctx, part, pick))
    for (const at of awaited) await pick(at)
    await ctx.all(promises)
  }
}

async function chain(ctx: PlanContext, before: Promise<unknown>): Promise<unknown> {
  await before
  return call(ctx, 'c')
}

function make(ctx: PlanContext, part: Made, pick: (at: number) => Promise<unknown>): Promise<unknown> {
  if (part.make === 'call') return call(ctx, 'c')
  const members = part.of.map(pick)
  if (part.make === 'all') return ctx.all(members)
  if (part.make === 'race') return ctx.race(members)
  if (part.make === 'native') return Promise.all(members)
  return chain(ctx, members[0] as Promise<unknown>)
}

it('Where a plan waits for all, the end of some of them changes nothing', async () => {
  let waits = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { minLength: 1, maxLength: 8 }),
      fc.array(number, { maxLength: 2 }),
      async (parts, awaited) => {
        waits += await expectCertain(toRun(parts, awaited))
      },
    ),
    { seed: 3_743, numRuns: 600 },
  )
  expect(waits).toBeGreaterThan(100)
}, 120_000)

/** Plays the function to its end. Wherever it waits for all of several calls, each of them ends first, in a world of its own. */
async function expectCertain(run: Run): Promise<number> {
  let waits = 0
  let journal: readonly JournalEntry[] = []
  let pending: readonly string[] = []
  for (;;) {
    const { next, then } = await ask(run, journal, pending)
    if (typeof then === 'object') return waits
    pending = [...pending, ...next.map(({ id }) => id)]
    if (then === 'all') {
      waits += 1
      for (const first of pending) {
        const others = pending.filter((id) => id !== first)
        const early = await ask(run, [...journal, end(first)], others)
        expect([early.next, typeof early.then]).toEqual([[], 'string'])
      }
    }
    const ended = then === 'all' ? pending : pending.slice(0, 1)
    journal = [...journal, ...ended.map(end)]
    pending = pending.slice(ended.length)
  }
}

function end(id: string): JournalEntry {
  const name = `svc:/${id.replace(/\..*/, '')}`
  return { id, is: 'call', name, value: null, at: 9 }
}

async function ask(
  run: Run,
  journal: readonly JournalEntry[],
  pending: readonly string[],
): Promise<PlanAnswer> {
  const planCall: PlanCall = {
    v: 1,
    ...{ gid: 'order-17', workflow: 'order', generation: 1, plan: 1, acceptedAt: 1, startAt: 1, at: 1 },
    journal,
    pending: pending.map((id) => ({ id, is: 'call', name: end(id).name })),
    grant: { from: 1, count: 0 },
    bytesLeft: 1_000_000,
  }
  return answerPlan([program(run)], planCall, {
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    runStep: async () => undefined,
    elapsedMs: () => 0,
    budgetMs: 10_000,
    createFailure: (failed) => new Failure(failed),
    readFailure,
  })
}
