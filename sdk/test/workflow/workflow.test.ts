import type { PlanAnswer, PlanCall, PlanFailure } from '@counterstep/protocol'
import { answerPlan, parsePlanCall } from '@counterstep/workflow'
import { describe, expect, it } from 'vitest'
import type { Barrier } from '../../src/barrier/barrier.ts'
import { BranchFailure } from '../../src/branch/branch-errors.ts'
import { createFailure, readFailure } from '../../src/branch/failures.ts'
import { endpoint } from '../../src/endpoint.ts'
import { signal } from '../../src/signal.ts'
import { step } from '../../src/workflow/step.ts'
import { workflow } from '../../src/workflow/workflow.ts'

type Tx = readonly string[]

const barrier: Barrier<Tx> = { run: async () => ({ decision: 'run' }) }
const reserve = step('reserve', {
  do: async (_tx: Tx, input: { sku: string }) => ({ id: input.sku.length }),
  undo: async () => undefined,
})
const note = step('note', { do: async (_tx: Tx, input: string) => input })
const charge = endpoint<{ cents: number }, { paymentId: string }, 'DECLINED'>('pay:/charges/{kind}')
const refund = endpoint<{ of: string | null }, void>('pay:/refunds')
const mail = endpoint<{ text: string }, void>('mail:/mails')
const approval = signal<{ by: string }>('approval')
const options = { version: 2, barrier, steps: [reserve, note] } as const
const JOURNAL = [
  { id: 'reserve', is: 'step', name: 'reserve', slot: '~1', value: { id: 7 }, at: 5 },
  {
    id: 'charge',
    is: 'call',
    name: 'pay:/charges/{kind}',
    failed: { code: 'DECLINED', message: 'no' },
    at: 6,
  },
] as const

const order = workflow('order', options, async (ctx, input: { sku: string }) => {
  const { id } = await ctx.step(reserve, { sku: input.sku })
  const pay = (cents: number) =>
    ctx.call('charge', charge, {
      payload: { cents },
      at: { kind: 'card' },
      undo: (own) => ({ to: refund, payload: { of: own.paymentId } }),
    })
  const paid = await pay(100).catch((error: unknown) => {
    if (!(error instanceof BranchFailure) || error.code !== 'DECLINED') throw error
    return pay(50)
  })
  const yes = await ctx.signal('approved', approval, { timeoutMs: 1_000 })
  if (yes === undefined) throw new BranchFailure('not approved', { code: 'NO_ONE', details: { id } })
  const { value, ctx: sure } = await ctx.pivot(note, paid.paymentId)
  await sure.call('mail', mail, { payload: { text: value } })
  return { by: yes.by, id }
})

async function plan(more: Partial<PlanCall> | { readonly journal: readonly object[] }): Promise<PlanAnswer> {
  const call = {
    v: 1,
    gid: 'order-17',
    workflow: 'order',
    generation: 1,
    plan: 1,
    acceptedAt: 5,
    at: 9,
    input: { sku: 'abc' },
    journal: [],
    pending: [],
    bytesLeft: 100_000,
    ...more,
  }
  return answerPlan([order], parsePlanCall(JSON.stringify(call)), {
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    runStep: async ({ input }) => reserve.do([], input as { sku: string }),
    elapsedMs: () => 0,
    budgetMs: 1_000,
    createFailure,
    readFailure,
  })
}

describe('a typed workflow', () => {
  it('A local step is planned with its input, and says that it can be undone', async () => {
    const { next, then, version } = await plan({})
    const branch = { slot: '~1', input: { sku: 'abc' }, undo: true }
    expect(next).toEqual([{ id: 'reserve', is: 'step', name: 'reserve', branch }])
    expect([then, version]).toEqual(['any', 2])
  })

  it('A call is a branch of a saga, whose compensation refers to its own final id', async () => {
    const { ran, next } = await plan({ grant: { from: 1, count: 8 } })
    expect(ran).toEqual([
      { id: 'reserve', is: 'step', name: 'reserve', slot: '~1', undo: true, value: { id: 3 } },
    ])
    const compensation = { url: 'pay:/refunds', template: { of: { $from: 'charge', at: '/paymentId' } } }
    const branch = { action: 'pay:/charges/card', payload: { cents: 100 }, compensation }
    expect(next).toEqual([{ id: 'charge', is: 'call', name: 'pay:/charges/{kind}', branch }])

    const again = await plan({ journal: JOURNAL })
    const second = { url: 'pay:/refunds', template: { of: { $from: 'charge.2', at: '/paymentId' } } }
    expect(again.next).toEqual([
      {
        id: 'charge.2',
        is: 'call',
        name: 'pay:/charges/{kind}',
        branch: { ...branch, payload: { cents: 50 }, compensation: second },
      },
    ])
  })

  it('A failure that leaves the function says what it says', async () => {
    const paid = {
      id: 'charge.2',
      is: 'call',
      name: 'pay:/charges/{kind}',
      value: { paymentId: 'p' },
      at: 7,
    } as const
    const late = { id: 'approved', is: 'signal', name: 'approval', at: 8 } as const
    const { then } = await plan({ journal: [...JOURNAL, paid, late] })
    expect(then).toEqual({ failed: { code: 'NO_ONE', message: 'not approved', details: { id: 7 } } })

    const came = { ...late, value: { by: 'kim' } }
    const pivot = await plan({ journal: [...JOURNAL, paid, came] })
    const branch = { slot: '~2', input: 'p', undo: false, role: 'pivot' }
    expect(pivot.next).toEqual([{ id: 'note', is: 'step', name: 'note', branch }])

    const noted = { id: 'note', is: 'step', name: 'note', slot: '~2', value: 'p', at: 8 } as const
    const sure = await plan({ journal: [...JOURNAL, paid, came, noted] })
    const mailed = { action: 'mail:/mails', payload: { text: 'p' }, role: 'retriable' }
    expect(sure.next).toEqual([{ id: 'mail', is: 'call', name: 'mail:/mails', branch: mailed }])

    const sent = { id: 'mail', is: 'call', name: 'mail:/mails', at: 8 } as const
    const done = await plan({ journal: [...JOURNAL, paid, came, noted, sent] })
    expect(done.then).toEqual({ done: { by: 'kim', id: 7 } })
  })

  it('A step that the workflow does not list is a bug, since its undo could not be found', async () => {
    const { run } = workflow('loose', { version: 1 }, async (ctx) => ctx.step(reserve as never, {} as never))
    await expect(run({} as never, undefined)).rejects.toThrow(
      "the step reserve is not in the workflow's list",
    )
  })
})

describe('failures of a workflow', () => {
  it('A failure comes back as it went', () => {
    const failed: PlanFailure = { code: 'DECLINED', message: 'no', details: [1] }
    expect(readFailure(createFailure(failed))).toEqual(failed)
    expect(readFailure(createFailure({ code: 'A', message: '' }))).toEqual({ code: 'A', message: '' })
  })

  it.each([new Error('x'), Object.assign(new Error('x'), { code: 'DECLINED', status: 409 }), 'x', undefined])(
    'Any other error is none',
    (error) => {
      expect(readFailure(error)).toBeUndefined()
    },
  )
})

describe('a workflow that could never be served', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['a name with a space', () => workflow('my order', { version: 1 }, async () => 1), /my order is no name/],
    ['version 0', () => workflow('order', { version: 0 }, async () => 1), /version/],
    ['half a version', () => workflow('order', { version: 1.5 }, async () => 1), /version/],
    [
      'a step with a slash',
      () =>
        workflow(
          'order',
          { version: 1, barrier, steps: [step('a/b', { do: (_tx: Tx) => 1 })] },
          async () => 1,
        ),
      /a\/b is no name of a step/,
    ],
    [
      'two steps of one name',
      () => workflow('order', { version: 1, barrier, steps: [note, { ...note }] }, async () => 1),
      /two steps note/,
    ],
    [
      'a name that no server takes',
      () => workflow('shop/order', { version: 1 }, async () => 1),
      /shop\/order is no name of a workflow/,
    ],
  ])('%s is refused when it is made', (_title, make, message) => {
    expect(make).toThrow(message)
  })
})
