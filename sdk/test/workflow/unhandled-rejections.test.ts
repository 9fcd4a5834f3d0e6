// biome-ignore-all lint/suspicious/noThenProperty: The answer of a plan has this field.

import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answerWorkflow, type Branch, BranchFailure, endpoint, workflow } from '../../src/index.ts'
import { runWorkflow } from '../../src/testing/run-workflow.ts'
import { nextTurn } from '../../src/workflow/next-turn.ts'
import type { WorkflowContext } from '../../src/workflow/workflow-context.ts'
import { callHandler, PLAN } from './shop.ts'

const charge = endpoint<void, { id: string }>('bank:/charges')

/** The reasons that the process was told of. Its other listeners are the test runner's, which would count them as faults. */
let told: unknown[] = []
let others: NodeJS.UnhandledRejectionListener[] = []
const tell = (reason: unknown) => void told.push(reason)

beforeEach(() => {
  told = []
  others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', tell)
})
afterEach(() => {
  process.off('unhandledRejection', tell)
  for (const each of others) process.on('unhandledRejection', each)
})

function order(run: (ctx: WorkflowContext<never>) => Promise<unknown>) {
  return [workflow('order', { version: 1 }, run)]
}

const CALL = { is: 'call', name: 'bank:/charges' } as const
const REFUSED = { ...CALL, id: 'b', failed: { code: 'NO', message: 'no' }, at: 6 }
const CHARGED = { ...CALL, id: 'a', value: { id: 'p-1' }, at: 7 }

/** The second plan, in which a is still called and b was refused, and the third one, in which a has ended. */
const plan = (workflows: ReturnType<typeof order>, number: 2 | 3) =>
  callHandler(workflows, 'plan', {
    ...PLAN,
    version: 1,
    plan: number,
    journal: number === 2 ? [REFUSED] : [REFUSED, CHARGED],
    pending: number === 2 ? [{ ...CALL, id: 'a' }] : [],
  })

describe('two functions that are started together and awaited one after the other', () => {
  const call = async (ctx: WorkflowContext<never>, id: string) => (await ctx.call(id, charge)).id
  const refuse = async (ctx: WorkflowContext<never>, id: string) => {
    try {
      return await call(ctx, id)
    } catch (cause) {
      throw new BranchFailure('no', { code: 'NO', cause })
    }
  }

  it.each([
    ['as it came', call],
    ['as another one', refuse],
    ['from a promise that is made of that of ctx', (ctx, id) => ctx.call(id, charge).then((own) => own.id)],
  ] as const satisfies readonly (readonly [string, typeof call])[])(
    'The failure of the second one waits until it is awaited: %s',
    async (_title, one) => {
      const workflows = order(async (ctx) => {
        const [a, b] = [one(ctx, 'a'), one(ctx, 'b')]
        return { a: await a, b: await b }
      })
      const { body, error } = await plan(workflows, 2)
      expect([body, error]).toMatchObject([{ next: [], then: 'any' }, undefined])
      expect((await plan(workflows, 3)).body).toMatchObject({ then: { failed: { code: 'NO' } } })
      expect(told).toEqual([])
    },
  )

  it('A function may catch the failure later, and go on', async () => {
    const workflows = order(async (ctx) => {
      const [a, b] = [call(ctx, 'a'), call(ctx, 'b')]
      return { a: await a, b: await b.catch(() => 'none') }
    })
    await plan(workflows, 2)
    expect((await plan(workflows, 3)).body).toMatchObject({ then: { done: { a: 'p-1', b: 'none' } } })
    expect(told).toEqual([])
  })

  it.each(['returns', 'continues'])(
    'A failure that is never awaited refuses a function that %s',
    async (how) => {
      const workflows = order(async (ctx) => {
        const a = call(ctx, 'a')
        void call(ctx, 'b')
        return how === 'returns' ? a : ctx.continueWith(await a, { keep: true })
      })
      expect((await plan(workflows, 2)).body).toMatchObject({ then: 'any' })
      const { body, error } = await plan(workflows, 3)
      expect(body).toMatchObject({ then: { refused: { code: 'WORKFLOW_RULE_BROKEN' } } })
      expect((error as Error).message).toMatch(/never awaits a promise .* NO/)
      expect(told).toEqual([])
    },
  )

  it('A function that fails need not have awaited the others', async () => {
    const workflows = order(async (ctx) => {
      const [a, b] = [call(ctx, 'a'), call(ctx, 'b')]
      await a
      throw new BranchFailure('too late', { code: 'LATE', cause: b })
    })
    expect((await plan(workflows, 3)).body).toMatchObject({ then: { failed: { code: 'LATE' } } })
    expect(told).toEqual([])
  })

  it('Any other error counts as thrown by the function', async () => {
    const bug = new TypeError('that is no function')
    const throwBug = async (ctx: WorkflowContext<never>) => {
      await call(ctx, 'b').catch(() => undefined)
      throw bug
    }
    const workflows = order(async (ctx) => {
      const [a, b] = [call(ctx, 'a'), throwBug(ctx)]
      return { a: await a, b: await b }
    })
    const { status, body, error } = await plan(workflows, 2)
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({ code: 'STEP_ERROR', cause: bug })
    expect(told).toEqual([])
  })

  it('They are played in a test of the workflow', async () => {
    const [shop] = order(async (ctx) => {
      const [a, b] = [call(ctx, 'a'), call(ctx, 'b')]
      return { a: await a, b: await b }
    })
    const refused = () => Promise.reject(new BranchFailure('no', { code: 'NO' }))
    const answers = { a: { id: 'p-1' }, b: refused }
    const outcome = await runWorkflow(shop as never, undefined as never, { answers, delaysMs: { a: 5 } })
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'NO' } })
    expect(told).toEqual([])
  })
})

describe('a promise of the function that fails when its plan has been answered', () => {
  const URL_OF_PLAN = '/workflows?gid=order-17&trans_type=workflow&branch_id=00&op=plan'
  const bug = new TypeError('fetch failed')

  /** Answers a plan whose function waits for a timer, then lets a promise of the function fail. */
  async function failLate(onLateError?: (error: unknown, branch: Branch) => void, reason: unknown = bug) {
    let fail = (_reason: unknown): void => undefined
    const workflows = order(async (ctx) => {
      const outside = new Promise((_, reject) => {
        fail = reject
      })
      // A function of its own, whose promise is not that one.
      const read = (async () => outside)()
      await ctx.sleep('s', 1_000)
      return read
    })
    const request = { url: URL_OF_PLAN, headers: {}, payload: { ...PLAN, version: 1 } }
    const { answer } = await answerWorkflow(workflows, request, onLateError && { onLateError })
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ next: [{ id: 's' }], then: 'any' })
    fail(reason)
    await nextTurn()
  }

  it.each([bug, new BranchFailure('no', { code: 'NO' })])(
    'It ends no process, and goes to the log of the service: %s',
    async (reason) => {
      const logged: unknown[] = []
      await failLate((error, { gid }) => logged.push([error, gid]), reason)
      expect(logged).toMatchObject([[{ code: 'STEP_ERROR', cause: reason }, 'order-17']])
      expect(told).toEqual([])
    },
  )

  it.each<[string, (() => void) | undefined]>([
    ['there is no log', undefined],
    [
      'the log throws',
      () => {
        throw bug
      },
    ],
  ])('The process warns of it where %s', async (_title, onLateError) => {
    const warned = once(process, 'warning')
    await failLate(onLateError)
    expect((await warned)[0]).toMatchObject({
      name: 'CounterstepWarning',
      detail: expect.stringContaining('fetch failed'),
    })
    expect(told).toEqual([])
  })

  it('The process is told of what the log itself leaves rejected, and the log hears it once', async () => {
    const own = new Error('the log is away')
    let heard = 0
    await failLate(() => {
      heard += 1
      void Promise.reject(own)
    })
    await nextTurn()
    await nextTurn()
    expect([heard, told]).toEqual([1, [own]])
  })

  it('The process is still told of those of other code', async () => {
    await failLate(() => undefined)
    void Promise.reject(bug)
    await nextTurn()
    expect(told).toEqual([bug])
  })
})

it('The process is told of the rejections of all other code while a plan runs, and of that in ctx.run', async () => {
  const other = new Error('of something else')
  const inRun = new BranchFailure('of the code in ctx.run', { code: 'NO' })
  const workflows = order(async (ctx) => {
    await ctx.run('read', () => void Promise.reject(inRun))
    return ctx.run('again', () => 1)
  })
  const answering = callHandler(workflows, 'plan', PLAN)
  void Promise.reject(other)
  expect((await answering).body).toMatchObject({ then: { done: 1 } })
  expect(told).toEqual([other, inRun])
})
