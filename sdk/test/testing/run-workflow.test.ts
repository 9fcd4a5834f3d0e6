import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { Barrier } from '../../src/barrier/barrier.ts'
import { BranchFailure } from '../../src/branch/branch-errors.ts'
import { endpoint } from '../../src/endpoint.ts'
import { signal } from '../../src/signal.ts'
import { runWorkflow, type WorkflowTrial } from '../../src/testing/run-workflow.ts'
import { step } from '../../src/workflow/step.ts'
import { workflow } from '../../src/workflow/workflow.ts'

const HOUR_MS = 3_600_000
const barrier: Barrier<DatabaseSync> = { run: async () => ({ decision: 'run' }) }
const reserve = step('reserve', {
  do: (db: DatabaseSync, { sku }: { sku: string }) => {
    if (sku === 'gone') throw new BranchFailure('none left', { code: 'SOLD_OUT' })
    const { lastInsertRowid } = db.prepare('INSERT INTO stock (sku) VALUES (?)').run(sku)
    return { id: Number(lastInsertRowid) }
  },
  undo: (db, _input, done) => db.prepare('DELETE FROM stock WHERE id = ?').run(done.id),
})
const note = step('note', {
  do: (db: DatabaseSync, text: string) => void db.prepare('INSERT INTO notes (text) VALUES (?)').run(text),
})
const charge = endpoint<{ cents: number }, { paymentId: string }, 'DECLINED'>('pay:/charges')
const refund = endpoint<{ of: string | null }, void>('pay:/refunds')
const mail = endpoint<{ text: string }, void>('mail:/mails')
const approval = signal<{ by: string }>('approved')

interface Order {
  readonly sku: string
  readonly cents: number
}

const order = workflow(
  'order',
  { version: 1, barrier, steps: [reserve, note] },
  async (ctx, input: Order) => {
    const { id } = await ctx.step(reserve, { sku: input.sku })
    const paid = await ctx.call('charge', charge, {
      payload: { cents: input.cents },
      undo: (own) => ({ to: refund, payload: { of: own.paymentId } }),
    })
    const yes = await ctx.signal('approved', approval, { timeoutMs: 24 * HOUR_MS })
    if (yes === undefined) throw new BranchFailure('nobody approved', { code: 'NOT_APPROVED' })
    await ctx.sleep('cool-off', HOUR_MS)
    await ctx.all([
      ctx.call('mail', mail, { payload: { text: yes.by } }),
      ctx.step(note, `${paid.paymentId} at ${ctx.now()}`),
    ])
    return { id, payment: paid.paymentId }
  },
)

function openShop() {
  const tx = new DatabaseSync(':memory:')
  tx.exec('CREATE TABLE stock (id INTEGER PRIMARY KEY, sku TEXT); CREATE TABLE notes (text TEXT)')
  const count = (table: string) => tx.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n
  return { tx, count }
}

const answers = {
  charge: ({ cents }: { cents: number }) => ({ paymentId: `p${cents}` }),
  mail: undefined,
}
const approved: WorkflowTrial = {
  answers,
  signals: [{ name: 'approved', payload: { by: 'ann' }, afterMs: 2 * HOUR_MS }],
}

describe('runWorkflow', () => {
  it('A workflow runs to its result on virtual time, and its local steps run in the given database', async () => {
    const { tx, count } = openShop()
    const outcome = await runWorkflow(order, { sku: 'pen', cents: 5 }, { ...approved, tx })
    expect(outcome).toMatchObject({
      status: 'succeeded',
      result: { id: 1, payment: 'p5' },
      undone: [],
      elapsedMs: 3 * HOUR_MS,
    })
    expect(outcome.journal.map(({ id, atMs }) => `${id} ${atMs / HOUR_MS}`)).toEqual([
      'reserve 0',
      'charge 0',
      'approved 2',
      'cool-off 3',
      'mail 3',
      'note 3',
    ])
    expect([count('stock'), count('notes')]).toEqual([1, 1])
  })

  it('A workflow that fails is undone from its end, and tells why', async () => {
    const { tx, count } = openShop()
    const outcome = await runWorkflow(order, { sku: 'pen', cents: 5 }, { answers, tx })
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'NOT_APPROVED', message: 'nobody approved' },
      undone: ['charge', 'reserve'],
      elapsedMs: 24 * HOUR_MS,
    })
    expect(count('stock')).toBe(0)
  })

  it('A step or a call that refuses fails the workflow with its code, and undoes what came before', async () => {
    const { tx, count } = openShop()
    expect(await runWorkflow(order, { sku: 'gone', cents: 5 }, { ...approved, tx })).toMatchObject({
      failure: { code: 'SOLD_OUT' },
      undone: [],
    })
    const declined = () => {
      throw new BranchFailure('no money', { code: 'DECLINED' })
    }
    const trial = { ...approved, tx, answers: { ...answers, charge: declined } }
    expect(await runWorkflow(order, { sku: 'pen', cents: 5 }, trial)).toMatchObject({
      failure: { code: 'DECLINED' },
      undone: ['reserve'],
    })
    expect(count('stock')).toBe(0)
  })

  it('A signal that comes after the time limit of its wait is not taken', async () => {
    const { tx } = openShop()
    const late = { ...approved, tx, signals: [{ name: 'approved', afterMs: 25 * HOUR_MS }] }
    expect(await runWorkflow(order, { sku: 'pen', cents: 5 }, late)).toMatchObject({ status: 'failed' })
  })

  it('A step with an answer is not run, and a call without one is named', async () => {
    const { tx, count } = openShop()
    const given = { ...approved, tx, answers: { ...answers, reserve: { id: 99 } } }
    expect(await runWorkflow(order, { sku: 'pen', cents: 5 }, given)).toMatchObject({ result: { id: 99 } })
    expect(count('stock')).toBe(0)
    await expect(runWorkflow(order, { sku: 'pen', cents: 5 }, { tx })).rejects.toThrow(
      'the test has no answer for the call charge of pay:/charges',
    )
  })

  it('What takes longer ends later, so a race has the winner that the test wants', async () => {
    const race = workflow('race', { version: 1 }, async (ctx) => {
      const winner = await ctx.race([
        ctx.call('charge', charge, { payload: { cents: 1 } }).then(() => 'paid'),
        ctx.sleep('limit', 1_000).then(() => 'too late'),
      ])
      return winner
    })
    const run = (charge: number) => runWorkflow(race, undefined, { answers, delaysMs: { charge } })
    expect(await run(999)).toMatchObject({ result: 'paid' })
    expect(await run(1_001)).toMatchObject({ result: 'too late' })
  })

  it.each([
    ['a clock', () => Date.now()],
    ['chance', () => Math.random()],
  ])('%s that is not of ctx is found, with the place', async (_title, read) => {
    const broken = workflow('broken', { version: 1 }, async (ctx) => {
      await ctx.call('charge', charge, { payload: { cents: read() } })
    })
    await expect(runWorkflow(broken, undefined, { answers })).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_REPEATABLE',
      message: expect.stringContaining('call charge'),
    })
  })

  it('A clock and chance in ctx.run, and those of ctx, are not complained of', async () => {
    const sound = workflow('sound', { version: 1 }, async (ctx) => {
      const price = await ctx.run('price', () => Date.now() + Math.random())
      await ctx.call('charge', charge, { payload: { cents: price + ctx.now() + ctx.random() } })
      return ctx.uuid().length
    })
    expect(await runWorkflow(sound, undefined, { answers })).toMatchObject({ result: 36 })
  })

  it('Code that waits for something else than ctx is refused by the rule that it breaks', async () => {
    const outside = workflow('outside', { version: 1 }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
    })
    await expect(runWorkflow(outside, undefined)).rejects.toMatchObject({ code: 'WORKFLOW_RULE_BROKEN' })
  })

  it('An error that is no failure of the business comes out as the cause', async () => {
    const buggy = workflow('buggy', { version: 1 }, async () => {
      throw new RangeError('a bug')
    })
    await expect(runWorkflow(buggy, undefined)).rejects.toMatchObject({ cause: new RangeError('a bug') })
  })

  it('A workflow that goes on as a new generation is run to the end of the last one', async () => {
    const counting = workflow('counting', { version: 1 }, async (ctx, left: number): Promise<string> => {
      await ctx.sleep('day', 24 * HOUR_MS)
      if (left > 0) return ctx.continueWith(left - 1, { keep: true })
      return `generation ${ctx.info.generation}`
    })
    expect(await runWorkflow(counting, 2)).toMatchObject({ result: 'generation 3', elapsedMs: 72 * HOUR_MS })
  })
})
