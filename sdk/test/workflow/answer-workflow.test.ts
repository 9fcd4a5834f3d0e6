// biome-ignore-all lint/suspicious/noThenProperty: The answer of a plan has this field.

import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  answerBranch,
  answerWorkflow,
  BranchFailure,
  BranchOngoing,
  endpoint,
  isBranchError,
  step,
  workflow,
} from '../../src/index.ts'
import { assertWorkflows } from '../../src/workflow/workflow.ts'
import { callHandler, openShop, orderTwice, PLAN, STEP } from './shop.ts'

const CUP = { ...STEP, step: 'reserve', input: { sku: 'cup' } }
const ROW = '{"s":"reserve","w":1,"i":{"sku":"cup"},"v":{"id":1}}'

describe('a plan call', () => {
  it('Without a grant a step is planned, and nothing runs', async () => {
    const shop = openShop()
    const { status, body, error } = await callHandler([orderTwice(shop)], 'plan', PLAN)
    expect([status, error]).toEqual([200, undefined])
    expect(body).toEqual({
      v: 1,
      gid: 'order-17',
      version: 1,
      generation: 1,
      plan: 1,
      ran: [],
      next: [
        {
          id: 'reserve',
          is: 'step',
          name: 'reserve',
          branch: { slot: '~1', input: { sku: 'cup' }, undo: true },
        },
      ],
      then: 'any',
    })
    expect(shop.listRows()).toEqual([])
  })

  it('A workflow or a version that is not here, and changed code, are refused with 200', async () => {
    const { reserve, barrier } = openShop()
    const changed = workflow('order', { version: 1, barrier, steps: [reserve] }, async (ctx) =>
      ctx.run('other', () => 1),
    )
    const refuse = async (more: object) => {
      const { status, body } = await callHandler([changed], 'plan', { ...PLAN, ...more })
      expect([status, body?.ran, body?.next]).toEqual([200, [], []])
      return body?.then
    }
    const journal = [{ id: 'reserve', is: 'step', name: 'reserve', slot: '~1', value: { id: 1 }, at: 9 }]
    expect(await refuse({ workflow: 'trip' })).toMatchObject({ refused: { code: 'WORKFLOW_UNKNOWN' } })
    expect(await refuse({ version: 2 })).toMatchObject({ refused: { code: 'WORKFLOW_VERSION_UNKNOWN' } })
    expect(await refuse({ journal, grant: { from: 2, count: 0 } })).toMatchObject({
      refused: { code: 'WORKFLOW_CHANGED', id: 'reserve' },
    })
  })

  it('A BranchFailure ends the workflow, and anything else is asked again', async () => {
    const failing = (error: unknown) => [
      workflow('order', { version: 1 }, async () => {
        throw error
      }),
    ]
    const failed = await callHandler(failing(new BranchFailure('no', { code: 'NO' })), 'plan', PLAN)
    expect([failed.status, failed.body?.then]).toEqual([200, { failed: { code: 'NO', message: 'no' } }])
    const waiting = await callHandler(failing(new BranchOngoing()), 'plan', PLAN)
    expect([waiting.status, waiting.body]).toEqual([500, { code: 'STEP_ERROR' }])
    const thrown = Object.assign(new Error('SELECT secret'), { status: 409, statusCode: 409 })
    const { status, body, error } = await callHandler(failing(thrown), 'plan', PLAN)
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({
      message: 'the function of the workflow threw, and will be asked again; see the cause',
      cause: thrown,
    })
  })

  it.each<[string, unknown]>([
    ['no body', undefined],
    ['a text', '<html>'],
    ['bytes', Buffer.from('{}')],
    ['another v', { ...PLAN, v: 2 }],
    ['another gid', { ...PLAN, gid: 'order-18' }],
    ['a journal that is no list', { ...PLAN, journal: {} }],
  ])('%s is no plan call', async (_title, payload) => {
    const { status, body } = await callHandler([orderTwice(openShop())], 'plan', payload)
    expect([status, body?.code]).toEqual([400, 'WORKFLOW_CALL_INVALID'])
  })

  it('A body that is nested too deep is refused before anything walks it', async () => {
    let input: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) input = [input]
    const { status, body } = await callHandler([orderTwice(openShop())], 'plan', { ...PLAN, input })
    expect([status, body?.code]).toEqual([400, 'WORKFLOW_CALL_INVALID'])
  })

  it('A plan has the branch id 00, and calls of another kind belong to a branchHandler, and the other way round', async () => {
    const shop = openShop()
    const order = orderTwice(shop)
    expect((await callHandler([order], 'plan', PLAN, '~1')).body?.code).toBe('WORKFLOW_CALL_INVALID')
    expect((await callHandler([order], 'try', PLAN)).body?.code).toBe('BRANCH_KIND_UNSUPPORTED')
    expect((await callHandler([order], 'action&op=action', CUP)).body?.code).toBe('BRANCH_CALL_INVALID')
    const url = '/debit?gid=order-17&trans_type=workflow&branch_id=~1&op=action'
    const { answer } = await answerBranch(shop.barrier, () => undefined, { url, headers: {}, payload: CUP })
    expect([answer.statusCode, shop.listRows()]).toEqual([400, []])
  })
})

describe('a step that is called by itself', () => {
  it('It runs once, and its name, input and value commit with its effect', async () => {
    const shop = openShop()
    const workflows = [orderTwice(shop)]
    const first = await callHandler(workflows, 'action', CUP)
    expect([first.status, first.body, first.headers['counterstep-barrier']]).toEqual([200, { id: 1 }, 'run'])
    const second = await callHandler(workflows, 'action', CUP)
    expect([second.status, second.body, second.headers['counterstep-barrier']]).toEqual([
      200,
      { id: 1 },
      'duplicate',
    ])
    expect([shop.listReserved(), shop.listRows()]).toEqual([['cup'], [['~1', 'action', 'action', ROW]]])
  })

  it('A run after a deadlock gets the input as it came, though the first run has taken that apart', async () => {
    const { barrier } = openShop()
    const runs: string[][] = []
    const take = step('take', {
      do: (_tx: object, { lines }: { lines: string[] }) => void runs.push(lines.splice(0)),
    })
    // The database has chosen the first transaction as the victim of a deadlock.
    const repeating: typeof barrier = {
      ...barrier,
      run: (call, effect) =>
        barrier.run(call, (tx, original) => {
          effect(tx, original)
          return effect(tx, original)
        }),
    }
    const order = workflow('order', { version: 1, barrier: repeating, steps: [take] }, async () => 1)
    await callHandler([order], 'action', { ...STEP, step: 'take', input: { lines: ['cup', 'pot'] } })
    expect(runs).toEqual([
      ['cup', 'pot'],
      ['cup', 'pot'],
    ])
  })

  it('A step that returns nothing is answered without a body', async () => {
    const shop = openShop()
    const noted = await callHandler([orderTwice(shop)], 'action', { ...STEP, step: 'note' })
    expect([noted.status, noted.body]).toEqual([200, undefined])
    expect(shop.listRows()).toEqual([['~1', 'action', 'action', '{"s":"note","w":1}']])
  })

  it('A failing step is answered 409 with what it says, and leaves no row', async () => {
    const shop = openShop()
    const { status, body, error } = await callHandler([orderTwice(shop)], 'action', {
      ...CUP,
      input: { sku: 'none' },
    })
    expect([status, body, error]).toEqual([
      409,
      { code: 'SOLD_OUT', message: 'no cups', details: { left: 0 } },
      undefined,
    ])
    expect([shop.listReserved(), shop.listRows()]).toEqual([[], []])
  })

  it('A pivot that fails keeps its refusal, so that no copy of its call runs later', async () => {
    const shop = openShop()
    let isSoldOut = true
    const pay = step('pay', {
      do: (tx: DatabaseSync) => {
        if (isSoldOut) throw new BranchFailure('no cups', { code: 'SOLD_OUT' })
        tx.exec("INSERT INTO reserved (sku) VALUES ('paid')")
      },
    })
    const options = { version: 1, barrier: shop.barrier, steps: [pay] }
    const order = workflow('order', options, async (ctx) => void (await ctx.pivot(pay)))
    const body = { ...STEP, step: 'pay' }
    const headers = { 'counterstep-undo': 'none' }
    const refused = await callHandler([order], 'action', body, '~1', headers)
    isSoldOut = false
    const late = await callHandler([order], 'action', body, '~1', headers)
    const sealed = await callHandler([order], 'compensate', STEP)
    expect([late.body, sealed.status]).toEqual([{ code: 'SOLD_OUT', message: 'no cups' }, 200])
    expect(refused.body).toEqual(late.body)
    expect([refused.status, late.status, shop.listReserved()]).toEqual([409, 409, []])
  })

  it('Any other error of a step is asked again, and names the step for the log alone', async () => {
    const shop = openShop()
    const { status, body, error } = await callHandler([orderTwice(shop)], 'action', {
      ...CUP,
      input: { sku: 'broken' },
    })
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({
      message: 'the step reserve threw, and will be asked again; see the cause',
      cause: { message: 'the disk is on fire' },
    })
    expect(shop.listRows()).toEqual([])
  })

  it('A value that the row cannot keep is rolled back, and the error names the step', async () => {
    const shop = openShop()
    const { status, body, error } = await callHandler([orderTwice(shop)], 'action', {
      ...CUP,
      input: { sku: 'large' },
    })
    expect([status, body]).toEqual([500, { code: 'BRANCH_ANSWER_TOO_LARGE' }])
    expect(isBranchError(error) && error.message).toMatch(/^the step reserve: the answer has \d+ bytes/)
    expect([shop.listReserved(), shop.listRows()]).toEqual([[], []])
    const odd = step('odd', { do: (_tx: unknown) => () => 1 })
    const order = workflow('order', { version: 1, barrier: shop.barrier, steps: [odd] }, async () => 1)
    const { body: answer } = await callHandler([order], 'action', { ...STEP, step: 'odd' })
    expect([answer, shop.listRows()]).toEqual([{ code: 'BRANCH_ANSWER_INVALID' }, []])
  })

  it('A value that no later call could bring is rolled back, since its step could not be undone', async () => {
    const shop = openShop()
    const odd = step('odd', {
      do: (tx: DatabaseSync) => {
        tx.exec("INSERT INTO reserved (sku) VALUES ('cup')")
        return JSON.parse('{"attributes":{"__proto__":{"colour":"red"}}}')
      },
      undo: (tx) => void tx.exec('DELETE FROM reserved'),
    })
    const order = workflow('order', { version: 1, barrier: shop.barrier, steps: [odd] }, (ctx) =>
      ctx.step(odd),
    )
    const alone = await callHandler([order], 'action', { ...STEP, step: 'odd' })
    expect([alone.status, alone.body]).toEqual([500, { code: 'BRANCH_ANSWER_INVALID' }])
    const within = await callHandler([order], 'plan', { ...PLAN, grant: { from: 1, count: 8 } })
    expect(within.status).toBe(500)
    expect([shop.listReserved(), shop.listRows()]).toEqual([[], []])
  })

  it('Its input and its value have room beside each other', async () => {
    const shop = openShop()
    const text = 'x'.repeat(16_000)
    const echo = step('echo', { do: (_tx: unknown, input: string) => input })
    const order = workflow('order', { version: 1, barrier: shop.barrier, steps: [echo] }, async () => 1)
    const ask = (input: string) => callHandler([order], 'action', { ...STEP, step: 'echo', input })
    expect((await ask(text)).body).toBe(text)
    expect((await ask(text)).headers['counterstep-barrier']).toBe('duplicate')
    const large = await callHandler(
      [order],
      'action',
      { ...STEP, step: 'echo', input: 'x'.repeat(17_000) },
      '~2',
    )
    expect([large.status, large.body]).toEqual([500, { code: 'BRANCH_ANSWER_TOO_LARGE' }])
  })

  it('A step that awaits is refused behind SQLite when it runs, and an async one when the workflow is made', async () => {
    const shop = openShop()
    const make = (run: (tx: object) => unknown) =>
      workflow(
        'order',
        { version: 1, barrier: shop.barrier, steps: [step('slow', { do: run })] },
        async () => 1,
      )
    expect(() => make(async () => 1)).toThrow(
      'the step slow: a handler behind the SQLite barrier must be synchronous',
    )
    for (const run of [
      () => Promise.resolve(1),
      () => ({ then: () => shop.database.exec('DROP TABLE reserved') }),
    ]) {
      const { body } = await callHandler([make(run)], 'action', { ...STEP, step: 'slow' })
      expect(body).toEqual({ code: 'BARRIER_EFFECT_ASYNC' })
    }
    expect([shop.listReserved(), shop.listRows()]).toEqual([[], []])
  })

  it('A step, a version or a workflow that is not deployed here is asked for again, and the error says what to do', async () => {
    const shop = openShop()
    const ask = async (more: object) => {
      const { status, body, error } = await callHandler([orderTwice(shop)], 'action', { ...CUP, ...more })
      expect([status, body]).toEqual([500, { code: 'STEP_UNKNOWN' }])
      return isBranchError(error) && error.message
    }
    expect(await ask({ step: 'pack' })).toBe(
      'version 1 of order has no step pack here, only reserve, note: deploy it again, under this name',
    )
    expect(await ask({ version: 2 })).toBe(
      'version 2 of order is not deployed here: 1: deploy it again until its workflows have ended',
    )
    expect(await ask({ workflow: 'trip' })).toContain('there is no workflow trip here')
  })

  it.each<[string, unknown]>([
    ['no body', undefined],
    ['a list', []],
    ['another v', { ...CUP, v: 2 }],
    ['no workflow', { ...CUP, workflow: undefined }],
    ['version 0', { ...CUP, version: 0 }],
    ['a step that is no text', { ...CUP, step: 7 }],
    ['no step', { ...STEP }],
  ])('%s is no call of a step', async (_title, payload) => {
    const { status, body } = await callHandler([orderTwice(openShop())], 'action', payload)
    expect([status, body?.code]).toEqual([400, 'WORKFLOW_CALL_INVALID'])
  })
})

describe('the undo of a step', () => {
  it('It takes the step, the input and the value of the row, and never runs the function', async () => {
    const shop = openShop()
    await callHandler([orderTwice(shop)], 'action', CUP)
    const { reserve, barrier } = shop
    const broken = workflow('order', { version: 1, barrier, steps: [reserve] }, async () => {
      throw new Error('the function has run')
    })
    const undo = { ...STEP, step: 'note', input: { sku: 'saucer' }, value: { id: 7 } }
    const { status, body, headers } = await callHandler([broken], 'compensate', undo)
    expect([status, body, headers['counterstep-barrier']]).toEqual([200, undefined, 'run'])
    expect(shop.listReserved()).toEqual([])
    expect((await callHandler([broken], 'compensate', STEP)).headers['counterstep-barrier']).toBe('duplicate')
  })

  it.each(['a call of its own', 'the plan call'])(
    'It gets the input as it came, though the step has taken that apart: in %s',
    async (where) => {
      const { barrier } = openShop()
      const moved: string[] = []
      const moveAll = (verb: string, lines: string[]) => {
        while (lines.length > 0) moved.push(`${verb} ${lines.shift()}`)
      }
      const take = step('take', {
        do: (_tx: object, input: { lines: string[] }) => moveAll('take', input.lines),
        undo: (_tx, input) => moveAll('return', input.lines),
      })
      const input = { lines: ['cup', 'pot'] }
      const order = workflow(
        'order',
        { version: 1, barrier, steps: [take] },
        async (ctx, given: { lines: string[] }) => ctx.step(take, given),
      )
      const done =
        where === 'the plan call'
          ? await callHandler([order], 'plan', { ...PLAN, input, grant: { from: 1, count: 8 } })
          : await callHandler([order], 'action', { ...STEP, step: 'take', input })
      const undone = await callHandler([order], 'compensate', STEP)
      expect([done.status, undone.status]).toEqual([200, 200])
      expect(moved).toEqual(['take cup', 'take pot', 'return cup', 'return pot'])
    },
  )

  it('A step that has not run is blocked for good', async () => {
    const shop = openShop()
    const workflows = [orderTwice(shop)]
    const undone = await callHandler(workflows, 'compensate', CUP)
    expect([undone.status, undone.headers['counterstep-barrier']]).toEqual([200, 'null-compensation'])
    const late = await callHandler(workflows, 'action', CUP)
    expect([late.status, late.body?.code]).toEqual([409, 'ALREADY_COMPENSATED'])
    expect(shop.listReserved()).toEqual([])
  })

  it('A step whose code is gone waits until it is deployed again, and one without an undo needs none', async () => {
    const shop = openShop()
    const { reserve, note, barrier } = shop
    await callHandler([orderTwice(shop)], 'action', CUP)
    await callHandler([orderTwice(shop)], 'action', { ...STEP, step: 'note' }, '~2')
    const without = workflow('order', { version: 1, barrier, steps: [note] }, async () => 1)
    const { status, body, error } = await callHandler([without], 'compensate', CUP)
    expect([status, body]).toEqual([500, { code: 'STEP_UNKNOWN' }])
    expect(isBranchError(error) && error.message).toContain('has no step reserve here, only note')
    expect((await callHandler([without], 'compensate', STEP, '~2')).status).toBe(200)
    expect(shop.listReserved()).toEqual(['cup', 'note'])
    const again = workflow('order', { version: 1, barrier, steps: [reserve] }, async () => 1)
    expect((await callHandler([again], 'compensate', CUP)).status).toBe(200)
    expect(shop.listReserved()).toEqual(['note'])
  })

  it('It is that of the version which has run the step, whatever version the call names', async () => {
    const shop = openShop()
    const undone: string[] = []
    const serve = (version: number) => {
      const pack = step('pack', {
        do: (_tx: unknown) => version,
        undo: (_tx, _input, done) => void undone.push(`version ${version} undoes ${done}`),
      })
      return workflow('order', { version, barrier: shop.barrier, steps: [pack] }, async (ctx) =>
        ctx.step(pack),
      )
    }
    const both = [serve(1), serve(2)]
    await callHandler([serve(1)], 'plan', { ...PLAN, grant: { from: 1, count: 8 } })
    await callHandler(both, 'plan', { ...PLAN, grant: { from: 1, count: 8 } })
    const gone = await callHandler([serve(2)], 'compensate', { ...STEP, version: 2 })
    expect([gone.status, gone.body]).toEqual([500, { code: 'STEP_UNKNOWN' }])
    expect((await callHandler(both, 'compensate', { ...STEP, version: 2 })).status).toBe(200)
    expect(undone).toEqual(['version 1 undoes 1'])
  })

  it('A row of an older release names no version, and is undone by that of the call', async () => {
    const shop = openShop()
    await callHandler([orderTwice(shop)], 'action', CUP)
    shop.database.prepare('UPDATE counterstep_barrier SET answer = ?').run(ROW.replace('"w":1,', ''))
    expect((await callHandler([orderTwice(shop)], 'compensate', STEP)).status).toBe(200)
    expect(shop.listReserved()).toEqual([])
  })

  it('An undo that throws is asked again, and its row does not stay', async () => {
    const shop = openShop()
    await callHandler([orderTwice(shop)], 'action', CUP)
    const broken = step('reserve', {
      do: (_tx: unknown) => 1,
      undo: () => {
        throw new Error('not now')
      },
    })
    const order = workflow('order', { version: 1, barrier: shop.barrier, steps: [broken] }, async () => 1)
    const { status, body, error } = await callHandler([order], 'compensate', CUP)
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({ message: expect.stringMatching(/^the undo of the step reserve threw/) })
    expect(shop.listRows()).toEqual([['~1', 'action', 'action', ROW]])
  })
})

describe('steps under a grant', () => {
  const GRANTED = { ...PLAN, grant: { from: 1, count: 8 } }

  it('They run within the plan call, once, and a repeated call finds them in their rows', async () => {
    const shop = openShop()
    const workflows = [orderTwice(shop)]
    const { status, body } = await callHandler(workflows, 'plan', GRANTED)
    const step = { is: 'step', name: 'reserve', undo: true }
    expect([status, body]).toMatchObject([
      200,
      {
        ran: [
          { ...step, id: 'reserve', slot: '~1', value: { id: 1 } },
          { ...step, id: 'reserve.2', slot: '~2', value: { id: 2 } },
          { id: 'note', is: 'step', name: 'note', slot: '~3', undo: false },
        ],
        next: [],
        then: { done: [1, 2] },
      },
    ])
    expect((await callHandler(workflows, 'plan', GRANTED)).body).toEqual(body)
    expect(shop.listReserved()).toEqual(['cup', 'cup-1', 'note'])
    // They are undone as any other step.
    for (const slot of ['~8', '~3', '~2', '~1']) {
      expect((await callHandler(workflows, 'compensate', { v: 1, workflow: 'order' }, slot)).status).toBe(200)
    }
    expect(shop.listReserved()).toEqual(['note'])
  })

  it('A failing step ends the run, and its row is rolled back', async () => {
    const shop = openShop()
    const { body } = await callHandler([orderTwice(shop)], 'plan', { ...GRANTED, input: { sku: 'none' } })
    expect(body).toMatchObject({
      ran: [
        { id: 'reserve', slot: '~1', failed: { code: 'SOLD_OUT', message: 'no cups', details: { left: 0 } } },
      ],
      next: [],
      then: 'now',
    })
    expect(shop.listRows()).toEqual([])
  })

  it('A step behind the pivot cannot fail, so one that says no is asked again', async () => {
    const { barrier } = openShop()
    const label = step('label', {
      do: (_tx: unknown) => {
        throw new BranchFailure('no labels')
      },
    })
    const pay = endpoint<void, void, 'DECLINED'>('bank:/pay')
    const order = workflow('order', { version: 1, barrier, steps: [label] }, async (ctx) => {
      const { ctx: sure } = await ctx.pivot('pay', pay)
      await sure.step(label)
    })
    const journal = [{ id: 'pay', is: 'call', name: 'bank:/pay', at: 9 }]
    const { status, body, error } = await callHandler([order], 'plan', { ...GRANTED, journal })
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({ cause: { message: 'no labels' } })
  })

  it('A step that throws leaves the plan unanswered, and what ran before it stands', async () => {
    const shop = openShop()
    const order = workflow(
      'order',
      { version: 1, barrier: shop.barrier, steps: [shop.reserve] },
      async (ctx) => {
        await ctx.step(shop.reserve, { sku: 'cup' })
        await ctx.step(shop.reserve, { sku: 'broken' })
      },
    )
    const { status, body, error } = await callHandler([order], 'plan', GRANTED)
    expect([status, body]).toEqual([500, { code: 'STEP_ERROR' }])
    expect(error).toMatchObject({ message: expect.stringMatching(/^the step reserve.2 threw/) })
    expect(shop.listRows()).toEqual([['~1', 'action', 'action', ROW]])
  })

  it('A step that is not done yet has the plan asked again later, as no failure', async () => {
    const shop = openShop()
    const ship = step('ship', {
      do: (_tx: unknown) => {
        throw new BranchOngoing({ retryAfterMs: 7_000 })
      },
    })
    const order = workflow(
      'order',
      { version: 1, barrier: shop.barrier, steps: [shop.reserve, ship] },
      async (ctx) => {
        await ctx.step(shop.reserve, { sku: 'cup' })
        await ctx.step(ship)
      },
    )
    const { status, body, headers, error } = await callHandler([order], 'plan', GRANTED)
    expect([status, body, headers['retry-after'], error]).toEqual([
      425,
      { code: 'BRANCH_NOT_YET' },
      '7',
      undefined,
    ])
    expect(shop.listRows()).toEqual([['~1', 'action', 'action', ROW]])
  })

  it('A row of an earlier transaction of the same gid refuses the plan, which the function cannot catch', async () => {
    const shop = openShop()
    const DAY_MS = 86_400_000
    const order = workflow(
      'order',
      { version: 1, barrier: shop.barrier, steps: [shop.reserve] },
      async (ctx) => ctx.step(shop.reserve, { sku: 'cup' }).catch(() => 'another way'),
    )
    const ask = async (acceptedAt: number) => {
      const url = '/workflows?gid=order-17&trans_type=workflow&branch_id=00&op=plan'
      const headers = { 'counterstep-accepted-at': `${acceptedAt}` }
      const { answer } = await answerWorkflow([order], { url, headers, payload: GRANTED })
      return JSON.parse(answer.body ?? '').then
    }
    expect(await ask(Date.now() - 2 * DAY_MS)).toEqual({ done: { id: 1 } })
    expect(await ask(Date.now())).toEqual({
      refused: {
        code: 'GID_REUSED',
        message: expect.stringMatching(/^reserve: .*the gid was used before/),
        id: 'reserve',
      },
    })
    expect(shop.listReserved()).toEqual(['cup'])
  })

  it('A slot that another step has used, and one that is undone, refuse the plan', async () => {
    const shop = openShop()
    const workflows = [orderTwice(shop)]
    await callHandler(workflows, 'action', { ...STEP, step: 'note' })
    const taken = await callHandler(workflows, 'plan', GRANTED)
    expect([taken.status, taken.body?.then]).toEqual([
      200,
      {
        refused: {
          code: 'SLOT_TAKEN',
          message: expect.stringContaining('the step note has run under the slot ~1: deploy the code'),
          id: 'reserve',
        },
      },
    ])
    const other = openShop()
    await callHandler([orderTwice(other)], 'compensate', CUP)
    const undone = await callHandler([orderTwice(other)], 'plan', GRANTED)
    expect(undone.body?.then).toMatchObject({ refused: { code: 'ALREADY_COMPENSATED', id: 'reserve' } })
    expect(other.listReserved()).toEqual([])
  })

  it('A slot that another step has used is no failure of a step with a call of its own', async () => {
    const workflows = [orderTwice(openShop())]
    await callHandler(workflows, 'action', { ...STEP, step: 'note' })
    const { status, body } = await callHandler(workflows, 'action', CUP)
    expect([status, body]).toEqual([500, { code: 'SLOT_TAKEN' }])
  })

  it('Half of the time that the call has is for new steps', async () => {
    const shop = openShop()
    const slow = step('slow', {
      do: (_tx: unknown) => {
        const until = performance.now() + 30
        while (performance.now() < until);
      },
    })
    const order = workflow('order', { version: 1, barrier: shop.barrier, steps: [slow] }, async (ctx) => {
      for (let count = 0; count < 4; count++) await ctx.step(slow)
    })
    const url = '/workflows?gid=order-17&trans_type=workflow&branch_id=00&op=plan'
    const ask = async (headers: object) => {
      const { answer } = await answerWorkflow([order], { url, headers: { ...headers }, payload: GRANTED })
      return JSON.parse(answer.body ?? '')
    }
    const short = await ask({ 'counterstep-budget-ms': '100' })
    expect([short.ran.length < 4, short.then]).toEqual([true, 'now'])
    expect((await ask({ 'counterstep-budget-ms': '600000' })).then).toEqual({ done: null })
  })
})

describe('a workflow without a barrier', () => {
  const calls: unknown[] = []
  const mail = step('mail', {
    do: async (tx: undefined, input: string) => {
      calls.push(['do', tx, input])
      if (input === 'no') throw new BranchFailure('no', { code: 'NO' })
      return { sent: input }
    },
    undo: async (tx, input, done) => calls.push(['undo', tx, input, done]),
  })
  const order = workflow('order', { version: 1, steps: [mail] }, async (ctx) => ctx.step(mail, 'a'))

  it('Its steps run for each call, and an undo gets what the call brings', async () => {
    const body = { ...STEP, step: 'mail', input: 'a' }
    for (let count = 0; count < 2; count++) {
      const { status, body: value, headers } = await callHandler([order], 'action', body)
      expect([status, value, headers['counterstep-barrier']]).toEqual([200, { sent: 'a' }, undefined])
    }
    expect((await callHandler([order], 'compensate', { ...body, value: { sent: 'a' } })).status).toBe(200)
    expect((await callHandler([order], 'compensate', body)).status).toBe(200)
    expect((await callHandler([order], 'compensate', { v: 1, workflow: 'order' })).status).toBe(200)
    expect(calls).toEqual([
      ['do', undefined, 'a'],
      ['do', undefined, 'a'],
      ['undo', undefined, 'a', { sent: 'a' }],
      ['undo', undefined, 'a', undefined],
    ])
    expect((await callHandler([order], 'action', { ...body, input: 'no' })).status).toBe(409)
  })

  it('Under a grant nothing runs', async () => {
    const { body } = await callHandler([order], 'plan', { ...PLAN, grant: { from: 1, count: 8 } })
    expect(body).toMatchObject({ ran: [], next: [{ id: 'mail' }] })
  })
})

it('A list that is empty, or has one version twice, cannot be served', () => {
  const order = workflow('order', { version: 1 }, async () => 1)
  expect(() => assertWorkflows([])).toThrow('at least one workflow')
  expect(() => assertWorkflows([order, order])).toThrow('has version 1 of order twice')
  assertWorkflows([order, workflow('order', { version: 2 }, async () => 1)])
})
