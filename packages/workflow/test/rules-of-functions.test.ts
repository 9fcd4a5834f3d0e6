import { setTimeout as wait } from 'node:timers/promises'
import { KEPT_VALUE_BYTES_MAX, STEPS_MAX } from '@counterstep/protocol'
import { type PlanContext, StepError } from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'
import { Failure } from './failure.ts'
import { play } from './orchestrator.ts'
import { call, caught, program, step, toCall } from './write-program.ts'

/** An `await` was forgotten before each of these. */
const FORGOTTEN: readonly [string, (ctx: PlanContext) => unknown][] = [
  ['a call', (ctx) => call(ctx, 'refused')],
  ['a group with a call', (ctx) => ctx.all([call(ctx, 'refused'), call(ctx, 'a')])],
  ['a pivot', (ctx) => ctx.pivot({ id: 'refused', ...toCall(1, 'svc:/refused') })],
]

const BROKEN: readonly {
  readonly title: string
  readonly run: (ctx: PlanContext) => unknown
  readonly message: RegExp
}[] = [
  {
    title: 'waits for a timer of its own',
    run: () => wait(60_000, undefined, { ref: false }),
    message: /not of ctx.*ctx\.run/,
  },
  { title: 'waits for nothing at all', run: () => new Promise(() => undefined), message: /not of ctx/ },
  {
    title: 'waits for something else behind a call',
    run: async (ctx) => {
      await call(ctx, 'a')
      await wait(60_000, undefined, { ref: false })
    },
    message: /not of ctx/,
  },
  {
    title: 'waits for the time to pass in a loop',
    run: (ctx) => {
      while (ctx.now() < 5_000);
    },
    message: /only ctx\.sleep lets time pass/,
  },
  {
    title: 'draws without an end',
    run: (ctx) => {
      while (ctx.random() < 2) ctx.uuid()
    },
    message: /over 100000 times/,
  },
  {
    title: 'asks without an end',
    run: async (ctx) => {
      for (;;) void call(ctx, 'a')
    },
    message: new RegExp(`at most ${STEPS_MAX} steps.*continueWith`),
  },
  {
    title: 'awaits patches without an end',
    run: async (ctx) => {
      for (;;) ctx.patched('a')
    },
    message: /at most 1000 steps/,
  },
  {
    title: 'catches what a broken rule throws',
    run: async (ctx) => {
      try {
        void ctx.call('no id!', toCall(1, 'svc:/a'))
      } catch {
        return call(ctx, 'b')
      }
      return 'missed'
    },
    message: /the id "no id!" is not 1–48 characters/,
  },
  {
    title: 'asks for an id that is too long',
    run: (ctx) => call(ctx, 'x'.repeat(49)),
    message: /is not 1–48/,
  },
  {
    title: 'asks for a second pivot',
    run: async (ctx) => {
      await ctx.pivot({ id: 'pay', ...toCall(1, 'svc:/pay') })
      return ctx.pivot({ id: 'pay', ...toCall(1, 'svc:/pay') })
    },
    message: /pay\.2 is a second pivot/,
  },
  {
    title: 'asks for two pivots at once',
    run: (ctx) => Promise.all(['p', 'q'].map((id) => ctx.pivot({ id, ...toCall(1, 'svc:/p') }))),
    message: /q is a second pivot/,
  },
  {
    title: 'goes on behind the pivot with the first ctx',
    run: async (ctx) => {
      await ctx.pivot({ id: 'pay', ...toCall(1, 'svc:/pay') })
      return step(ctx, 'late')
    },
    message: /late is asked for behind the pivot/,
  },
  {
    title: 'asks beside the pivot while that is called',
    run: (ctx) =>
      Promise.all([
        ctx.pivot({ id: 'pay', ...toCall(1, 'svc:/pay') }),
        ctx.sleep('nap', 5).then(() => call(ctx, 'beside')),
      ]),
    message: /beside was asked for beside the pivot/,
  },
  {
    title: 'continues behind a step without keep',
    run: async (ctx) => {
      await step(ctx, 'a')
      return ctx.continueWith(1)
    },
    message: /keep: true/,
  },
  {
    title: 'goes on behind its pivot',
    run: async (ctx) => {
      await ctx.pivot({ id: 'p', ...toCall(1, 'svc:/p') })
      return ctx.continueWith(1, { keep: true })
    },
    message: /behind the pivot/,
  },
  ...FORGOTTEN.map(([what, forget]) => ({
    title: `never awaits ${what} that is refused`,
    run: async (ctx: PlanContext) => {
      forget(ctx)
      await ctx.sleep('nap', 5)
      return 'done'
    },
    message: /never awaits a promise of its own that has failed with NO/,
  })),
  {
    title: 'gives a step too large an input',
    run: (ctx) => step(ctx, 'a', 'x'.repeat(16 * 1024)),
    message: /asked with has 16386 bytes/,
  },
  {
    title: 'gives a call what is no JSON',
    run: (ctx) => call(ctx, 'a', 1n),
    message: /a is asked with is no JSON/,
  },
  {
    title: 'runs what returns a function',
    run: (ctx) => ctx.run('r', () => () => 1),
    message: /the value of r is a function/,
  },
  {
    title: 'runs what returns a key that later calls cannot bring',
    run: (ctx) => ctx.run('r', () => JSON.parse('{"a":{"__proto__":1}}')),
    message: /the value of r has the key __proto__/,
  },
  {
    title: 'gives a step such a key',
    run: (ctx) => step(ctx, 'a', JSON.parse('{"constructor":{"prototype":1}}')),
    message: /a is asked with has the key __proto__/,
  },
  {
    title: 'goes on with such a key',
    run: (ctx) => ctx.continueWith(JSON.parse('{"__proto__":1}')),
    message: /the input of ctx.continueWith has the key __proto__/,
  },
  {
    title: 'runs what returns too much',
    run: (ctx) => ctx.run('r', () => 'x'.repeat(KEPT_VALUE_BYTES_MAX)),
    message: /the value of r has/,
  },
  {
    title: 'returns too much',
    run: () => 'x'.repeat(KEPT_VALUE_BYTES_MAX),
    message: /the result of the workflow has/,
  },
]

describe('a function that breaks a rule', () => {
  it.each(BROKEN)('$title', async ({ run, message }) => {
    const replies = { pay: { afterMs: 50 }, refused: { failed: { code: 'NO', message: 'no' } } }
    const { end } = await play([program(run)], { replies })
    expect(end).toEqual({
      refused: expect.objectContaining({
        code: 'WORKFLOW_RULE_BROKEN',
        message: expect.stringMatching(message),
      }),
    })
  })
})

describe('a call that is refused', () => {
  it.each<[string, (ctx: PlanContext) => Promise<unknown>]>([
    ['is caught', (ctx) => call(ctx, 'refused').catch(() => 'caught')],
    ['is in a group that is caught', (ctx) => ctx.all([call(ctx, 'refused')]).catch(() => 'caught')],
    [
      'is in a group that is dropped, and is caught itself',
      async (ctx) => {
        const refused = call(ctx, 'refused')
        void ctx.all([refused])
        return caught(refused)
      },
    ],
    ['loses a race', (ctx) => ctx.race([call(ctx, 'a'), call(ctx, 'refused')])],
    ['loses a race of Promise', (ctx) => Promise.race([call(ctx, 'a'), call(ctx, 'refused')])],
    [
      'is awaited at the end',
      async (ctx) => {
        const refused = call(ctx, 'refused')
        await ctx.sleep('nap', 50)
        return caught(refused)
      },
    ],
  ])('Ends no function that goes on where it %s', async (_title, run) => {
    const replies = { refused: { failed: { code: 'NO', message: 'no' }, afterMs: 10 } }
    const { end } = await play([program(run)], { replies })
    expect(end).toHaveProperty('done')
  })
})

describe('errors that are no failures', () => {
  it.each<[string, (ctx: PlanContext) => unknown, string | undefined]>([
    ['of the function', () => Promise.reject(new TypeError('a bug')), undefined],
    [
      'of a function that is not async',
      () => {
        throw new TypeError('a bug')
      },
      undefined,
    ],
    [
      'of a ctx.run, which the function cannot catch',
      (ctx) => caught(ctx.run('r', () => Promise.reject(new TypeError('a bug')))),
      'r',
    ],
    ['of a step, which the function cannot catch', (ctx) => caught(step(ctx, 'broken')), 'broken'],
  ])('An error %s is no answer', async (_title, run, id) => {
    const broken = () => {
      throw new TypeError('a bug')
    }
    const error = await play([program(run)], { grants: 8, steps: { broken } }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(StepError)
    expect(error).toMatchObject({
      code: 'STEP_ERROR',
      cause: { message: 'a bug' },
      ...(id === undefined ? {} : { id }),
    })
  })

  it('A step behind the pivot that refuses is asked again, since nothing can be undone', async () => {
    const run = async (ctx: PlanContext) => {
      const { ctx: sure } = await ctx.pivot({ id: 'pay', ...toCall(1, 'svc:/pay') })
      return sure.step({ name: 'note', hasUndo: false, input: 1 })
    }
    const { refuse } = await import('./barrier.ts')
    const error = await play([program(run)], { grants: 8, steps: { note: refuse('NO') } }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'STEP_ERROR', id: 'note' })
  })
})

describe('what goes on after the answer', () => {
  it('A function that wakes later asks for nothing, and throws nothing', async () => {
    const seen: unknown[] = []
    let wake = (): void => undefined
    const run = async (ctx: PlanContext) => {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      seen.push(ctx.now(), ctx.patched('p'), ctx.info.generation)
      void ctx.continueWith(1)
      void ctx.pivot({ id: 'p', ...toCall(1, 'svc:/p') })
      await call(ctx, 'a')
      seen.push('never')
    }
    const { end } = await play([program(run)])
    wake()
    await new Promise((resolve) => setImmediate(resolve))
    expect(end).toMatchObject({ refused: { code: 'WORKFLOW_RULE_BROKEN' } })
    expect(seen).toEqual([1_000, false, 1])
  })
})

describe('a failure that leaves the function', () => {
  const nest = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

  it.each([
    ['has no code', { code: '', message: 'no' }, { code: 'BRANCH_FAILED', message: 'no' }],
    ['has deep details', { code: 'NO', message: 'no', details: nest(33) }, { code: 'NO', message: 'no' }],
    ['has a long code', { code: 'A'.repeat(65), message: 'no' }, { code: 'A'.repeat(64), message: 'no' }],
  ])('It is told as far as an orchestrator takes it, if it %s', async (_, thrown, failed) => {
    const throwing = program(async () => {
      throw new Failure(thrown)
    })
    expect((await play([throwing])).end).toEqual({ failed })
  })
})

describe('a journal that grows', () => {
  it('The function is told to continue at the same place on each replay', async () => {
    const places: number[][] = []
    const run = async (ctx: PlanContext, input: unknown) => {
      const seen: number[] = []
      places.push(seen)
      for (let at = Number(input); at < 12; at++) {
        await ctx.run(`r${at}`, () => 'x'.repeat(60_000))
        if (!ctx.info.continueSuggested) continue
        seen.push(at)
        return ctx.continueWith(at + 1)
      }
      return input
    }
    const { end } = await play([program(run)], { input: 0, asks: 2 })
    expect(end).toEqual({ done: 10 })
    expect(new Set(places.flat())).toEqual(new Set([4, 9]))
  })

  it('A plan call ends when half of what the record has left is used', async () => {
    const run = async (ctx: PlanContext) => {
      for (let at = 0; at < 12; at++) await ctx.run(`r${at}`, () => 'x'.repeat(60_000))
    }
    const { calls } = await play([program(run)])
    expect(calls.map(({ journal }) => journal.length)).toEqual([0, 9])
  })
})
