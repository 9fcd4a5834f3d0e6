import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Barrier } from '../../src/barrier/barrier.ts'
import type { RedisEffect } from '../../src/barrier/redis.ts'
import { endpoint } from '../../src/endpoint.ts'
import { signal } from '../../src/signal.ts'
import { step } from '../../src/workflow/step.ts'
import { type Workflow, workflow } from '../../src/workflow/workflow.ts'
import type { SureWorkflowContext } from '../../src/workflow/workflow-context.ts'

interface Tx {
  readonly execute: (sql: string) => Promise<void>
}

const barrier: Barrier<Tx> = { run: async () => ({ decision: 'run' }) }
const reserve = step('reserve', {
  do: async (tx: Tx, input: { sku: string }) => {
    await tx.execute(input.sku)
    return { id: 7 }
  },
  undo: async (tx, input, done) => {
    expectTypeOf(tx).toEqualTypeOf<Tx>()
    expectTypeOf(input).toEqualTypeOf<{ sku: string }>()
    expectTypeOf(done).toEqualTypeOf<{ id: number }>()
  },
})
const note = step('note', { do: async (_tx: Tx, input: { text: string }) => input.text.length })
const tick = step('tick', { do: async (_tx: Tx) => 'ticked' })
const other = step('other', { do: async (_tx: Tx, input: number) => input })
const charge = endpoint<{ cents: number }, { paymentId: string }, 'DECLINED'>('pay:/charges')
const refund = endpoint<{ of: string | null }, void>('pay:/refunds')
const ping = endpoint<void, { ok: boolean }, 'DOWN'>('svc:/ping')
const mail = endpoint<{ text: string }, { mailId: string }>('mail:/mails')
const approval = signal<{ by: string }>('approval')
const go = signal('go')
const giveBack = () => ({ to: refund, payload: { of: null } })
const steps = [reserve, note, tick]
const options = { version: 1, barrier, steps: [reserve, note, tick] } as const

/** The compiler checks the function of the workflow, which never runs. */
function check(checked: Workflow<unknown, unknown>): void {
  expect(checked.name).toBe('order')
}

describe('steps', () => {
  it('A step takes its input and gives its answer', () => {
    check(
      workflow('order', options, async (ctx, _input: string) => {
        expectTypeOf(await ctx.step(reserve, { sku: 'a' })).toEqualTypeOf<{ id: number }>()
        expectTypeOf(await ctx.step(note, { text: 'a' })).toEqualTypeOf<number>()
        expectTypeOf(await ctx.step(tick)).toEqualTypeOf<string>()
        // @ts-expect-error The input has another type.
        await ctx.step(reserve, { sku: 7 })
        // @ts-expect-error The input is missing.
        await ctx.step(reserve)
        // @ts-expect-error This step is not in the list of steps.
        await ctx.step(other, 1)
      }),
    )
  })

  it('A step of another database does not fit the barrier', () => {
    const foreign = step('foreign', {
      do: async (_tx: { readonly query: () => void }, input: number) => input,
    })
    // @ts-expect-error The barrier hands over another transaction.
    check(workflow('order', { version: 1, barrier, steps: [foreign] }, async () => 1))
  })

  it('The Redis barrier does not fit, because its effect is a script and no value', () => {
    const redis: Barrier<Tx, RedisEffect> = { run: async () => ({ decision: 'run' }) }
    // @ts-expect-error A step returns a value.
    check(workflow('order', { version: 1, barrier: redis, steps: [reserve] }, async () => 1))
  })

  it('A step of SQLite is synchronous, and its undo knows what it returned', () => {
    const sqlite: Barrier<DatabaseSync> = { run: async () => ({ decision: 'run' }) }
    const insert = step('insert', {
      do: (tx: DatabaseSync, input: { sku: string }) => tx.prepare('INSERT').run(input.sku).changes,
      undo: (tx, _input, done) => {
        expectTypeOf(tx).toEqualTypeOf<DatabaseSync>()
        // JSON holds no bigint, so a value that has come out of it is none.
        expectTypeOf(done).toEqualTypeOf<number>()
      },
    })
    check(
      workflow('order', { version: 1, barrier: sqlite, steps: [insert] }, async (ctx) => {
        expectTypeOf(await ctx.step(insert, { sku: 'a' })).toEqualTypeOf<number>()
      }),
    )
  })

  it('Without a barrier a step has no transaction, and an undo may not know the answer', () => {
    const plain = step('plain', {
      do: async (_tx: undefined, input: { n: number }) => ({ n: input.n }),
      undo: async (_tx, _input, done) => expectTypeOf(done).toEqualTypeOf<{ n: number } | undefined>(),
    })
    check(
      workflow('order', { version: 1, steps: [plain] }, async (ctx) => (await ctx.step(plain, { n: 1 })).n),
    )
    // @ts-expect-error A step that needs a transaction needs a barrier.
    check(workflow('order', { version: 1, steps: [reserve] }, async () => 1))
  })

  it('A workflow has the types of its input and its result', () => {
    const order = workflow('order', options, async (_ctx, input: { sku: string }) => ({ sku: input.sku }))
    expectTypeOf(order).toEqualTypeOf<Workflow<{ sku: string }, { sku: string }>>()
    expect(order.steps).toEqual(steps)
  })
})

describe('calls and waits', () => {
  it('A call takes what its endpoint takes, and gives its answer', () => {
    check(
      workflow('order', options, async (ctx, _input: string) => {
        const payment = await ctx.call('charge', charge, {
          payload: { cents: 1 },
          undo: (own) => ({ to: refund, payload: { of: own.paymentId } }),
        })
        expectTypeOf(payment).toEqualTypeOf<{ paymentId: string }>()
        expectTypeOf(await ctx.call('ping', ping)).toEqualTypeOf<{ ok: boolean }>()
        // @ts-expect-error The payload has another type.
        await ctx.call('charge', charge, { payload: { cents: '1' } })
        // @ts-expect-error The payload is missing.
        await ctx.call('charge', charge)
      }),
    )
  })

  it('Signals, runs, all and race have the types of what they wait for', () => {
    check(
      workflow('order', options, async (ctx, _input: string) => {
        expectTypeOf(await ctx.signal('a', approval)).toEqualTypeOf<{ by: string } | undefined>()
        expectTypeOf(await ctx.signal('b', go, { timeoutMs: 1 })).toEqualTypeOf<null | undefined>()
        expectTypeOf(await ctx.run('c', async () => 4)).toEqualTypeOf<number>()
        expectTypeOf(await ctx.all([ctx.call('p', ping), ctx.sleep('s', 1), 'x'])).toEqualTypeOf<
          [{ ok: boolean }, Awaited<Promise<void>>, 'x']
        >()
        expectTypeOf(await ctx.race([ctx.call('p', ping), ctx.step(tick)])).toEqualTypeOf<
          { ok: boolean } | string
        >()
        // @ts-expect-error There are no children.
        ctx.child
      }),
    )
  })

  it('The next generation takes the input of the workflow', () => {
    check(
      workflow('order', options, async (ctx, input: { left: number }) => {
        if (input.left > 1) return ctx.continueWith({ left: input.left - 1 }, { keep: true })
        // @ts-expect-error The input has another type.
        return ctx.continueWith({ right: 1 })
      }),
    )
  })
})

describe('behind the pivot', () => {
  it('The ctx takes only steps without an undo and endpoints that cannot refuse', () => {
    check(
      workflow('order', options, async (ctx, _input: string) => {
        const { value, ctx: sure } = await ctx.pivot('charge', charge, { payload: { cents: 1 } })
        expectTypeOf(value).toEqualTypeOf<{ paymentId: string }>()
        expectTypeOf(sure).toExtend<SureWorkflowContext<typeof reserve | typeof note | typeof tick>>()
        expectTypeOf(await sure.call('mail', mail, { payload: { text: 'a' } })).toEqualTypeOf<{
          mailId: string
        }>()
        expectTypeOf(await sure.step(note, { text: 'a' })).toEqualTypeOf<number>()
        expectTypeOf(await sure.step(tick)).toEqualTypeOf<string>()
        await sure.sleep('s', 1)
        // @ts-expect-error This endpoint can refuse.
        await sure.call('charge', charge, { payload: { cents: 1 } })
        // @ts-expect-error This endpoint can refuse.
        await sure.call('ping', ping)
        // @ts-expect-error This step has an undo, which would never run.
        await sure.step(reserve, { sku: 'a' })
        // @ts-expect-error Nothing is undone any more.
        await sure.call('mail', mail, { payload: { text: 'a' }, undo: giveBack })
        // @ts-expect-error A call there is asked until it succeeds.
        await sure.call('mail', mail, { payload: { text: 'a' }, retry: { limit: 3 } })
        // @ts-expect-error There is one pivot.
        sure.pivot
        // @ts-expect-error What has passed the pivot ends as this generation.
        sure.continueWith
      }),
    )
  })

  it('A pivot is a call without an undo, or a step without one', () => {
    check(
      workflow('order', options, async (ctx, _input: string) => {
        expectTypeOf((await ctx.pivot(note, { text: 'a' })).value).toEqualTypeOf<number>()
        expectTypeOf((await ctx.pivot('ping', ping)).value).toEqualTypeOf<{ ok: boolean }>()
        // @ts-expect-error A pivot cannot be undone.
        await ctx.pivot(reserve, { sku: 'a' })
        // @ts-expect-error A pivot cannot be undone.
        await ctx.pivot('charge', charge, { payload: { cents: 1 }, undo: giveBack })
      }),
    )
  })
})
