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
  it('The undo of a step gets the input as it came, though the step has taken that apart', async () => {
    const { tx } = openShop()
    const returned: string[] = []
    const take = step('take', {
      do: (_db: DatabaseSync, input: { lines: string[] }) => void input.lines.splice(0),
      undo: (_db, input) => void returned.push(...input.lines),
    })
    const failing = workflow(
      'order',
      { version: 1, barrier, steps: [take] },
      async (ctx, lines: string[]) => {
        await ctx.step(take, { lines })
        throw new BranchFailure('no', { code: 'NO' })
      },
    )
    const { undone } = await runWorkflow(failing, ['cup', 'pot'], { tx })
    expect([undone, returned]).toEqual([['take'], ['cup', 'pot']])
  })

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
      undone: ['charge', 'reserve'],
    })
    expect(count('stock')).toBe(0)
  })

  it('What failed is undone at once though the function goes on, and what is under way when it fails, too', async () => {
    const { tx } = openShop()
    const undo = (own: { paymentId: string | null }) => ({ to: refund, payload: { of: own.paymentId } })
    const pay = (cents: number) => ({ payload: { cents }, undo: undo as never })
    const twoCards = workflow('cards', { version: 1, barrier, steps: [reserve] }, async (ctx) => {
      const slow = ctx.call('slow', charge, pay(1))
      await ctx.call('first', charge, pay(2)).catch(() => undefined)
      await ctx.step(reserve, { sku: 'pen' })
      await ctx.race([slow, ctx.sleep('limit', 1_000)])
      throw new BranchFailure('too late', { code: 'TOO_LATE' })
    })
    const declined = () => {
      throw new BranchFailure('no money', { code: 'DECLINED' })
    }
    const trial = { tx, answers: { slow: { paymentId: 'p' }, first: declined }, delaysMs: { slow: 2_000 } }
    expect(await runWorkflow(twoCards, undefined, trial)).toMatchObject({
      failure: { code: 'TOO_LATE' },
      undone: ['first', 'reserve', 'slow'],
      elapsedMs: 1_000,
    })
  })

  it('What was planned later is undone before what ended later', async () => {
    const chains = workflow('chains', { version: 1 }, async (ctx) => {
      const pay = (id: string) =>
        ctx.call(id, charge, { payload: { cents: 1 }, undo: () => ({ to: refund, payload: { of: null } }) })
      await Promise.all([pay('slow'), pay('fast').then(() => pay('later'))])
      throw new BranchFailure('no', { code: 'NO' })
    })
    const answer = { paymentId: 'p' }
    const outcome = await runWorkflow(chains, undefined, {
      answers: { slow: answer, fast: answer, later: answer },
      delaysMs: { slow: 900 },
    })
    expect(outcome.journal.map(({ id }) => id)).toEqual(['fast', 'later', 'slow'])
    expect(outcome.undone).toEqual(['later', 'slow', 'fast'])
  })

  it('Without a barrier the undo of a step runs though its do has refused, and does not know its value', async () => {
    const undone: unknown[] = []
    const mail = step('mail', {
      do: (_tx: undefined, _text: string): string => {
        throw new BranchFailure('no', { code: 'NO' })
      },
      undo: (_tx, text, done) => undone.push([text, done]),
    })
    const post = workflow('post', { version: 1, steps: [mail] }, async (ctx) => ctx.step(mail, 'hello'))
    expect(await runWorkflow(post, undefined)).toMatchObject({ status: 'failed', undone: ['mail'] })
    expect(undone).toEqual([['hello', undefined]])
  })

  it('A function that fails behind the pivot, and a call there that refuses, never end on a server', async () => {
    const behind = (after: 'throw' | 'call') =>
      workflow('behind', { version: 1 }, async (ctx) => {
        const { ctx: sure } = await ctx.pivot('pay', charge, { payload: { cents: 1 } })
        if (after === 'call') await sure.call('mail', mail, { payload: { text: 'paid' } })
        throw new BranchFailure('no', { code: 'NO' })
      })
    const refuse = () => {
      throw new BranchFailure('no mail')
    }
    const trial = { answers: { charge: { paymentId: 'p' }, pay: { paymentId: 'p' }, mail: refuse } }
    await expect(runWorkflow(behind('throw'), undefined, trial)).rejects.toThrow('failed behind the pivot')
    await expect(runWorkflow(behind('call'), undefined, trial)).rejects.toThrow(
      'mail refused behind the pivot',
    )
  })

  it('Two steps by chance under one slot are found, and named', async () => {
    let count = 0
    const { tx } = openShop()
    const chance = workflow('chance', { version: 1, barrier, steps: [reserve, note] }, async (ctx) => {
      if (++count === 1) await ctx.step(note, 'once')
      else await ctx.step(reserve, { sku: 'pen' })
    })
    await expect(runWorkflow(chance, undefined, { tx })).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_REPEATABLE',
      message: expect.stringMatching(/First: step note.*Then: .*SLOT_TAKEN/),
    })
  })

  it('A signal that comes after the time limit of its wait is not taken', async () => {
    const { tx } = openShop()
    const late = { ...approved, tx, signals: [{ name: 'approved', afterMs: 25 * HOUR_MS }] }
    expect(await runWorkflow(order, { sku: 'pen', cents: 5 }, late)).toMatchObject({ status: 'failed' })
  })

  it('A step behind a barrier that has neither an answer nor a tx is named', async () => {
    await expect(
      runWorkflow(order, { sku: 'pen', cents: 5 }, { ...approved, answers }),
    ).rejects.toMatchObject({
      cause: new TypeError('the test has no tx for the step reserve: give it tx, or give reserve in answers'),
    })
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
    const { journal, ...outcome } = await runWorkflow(counting, 2)
    expect(outcome).toMatchObject({ result: 'generation 3', elapsedMs: 72 * HOUR_MS })
    expect(journal.map(({ id, atMs }) => [id, atMs])).toEqual([
      ['day', 24 * HOUR_MS],
      ['day', 48 * HOUR_MS],
      ['day', 72 * HOUR_MS],
    ])
  })

  it('A workflow that goes on again and again without doing anything is complained of', async () => {
    const idle = workflow('idle', { version: 1 }, (ctx, input: number) => ctx.continueWith(input + 1))
    await expect(runWorkflow(idle, 1)).rejects.toThrow('has done nothing')
  })

  it('A failure undoes what its own generation did, and nothing before it', async () => {
    const { tx, count } = openShop()
    const twice = workflow(
      'twice',
      { version: 1, barrier, steps: [reserve] },
      async (ctx, { sku }: { sku: string }): Promise<void> => {
        await ctx.step(reserve, { sku })
        const payload = { cents: 1 }
        if (sku === 'pen') {
          const undo = () => ({ to: refund, payload: { of: null } })
          await ctx.call('charge', charge, { payload, undo })
          return ctx.continueWith({ sku: 'cup' }, { keep: true })
        }
        await ctx.call('charge', charge, { payload })
        throw new BranchFailure('no', { code: 'NO' })
      },
    )
    expect(await runWorkflow(twice, { sku: 'pen' }, { answers, tx })).toMatchObject({ undone: ['reserve'] })
    expect(count('stock')).toBe(1)
  })

  it('A signal that comes to a wait which a generation has dropped comes to the next one', async () => {
    const listening = workflow('listening', { version: 1 }, async (ctx, input: number): Promise<unknown> => {
      const approved = ctx.signal('approved', approval)
      if (input === 2) return approved
      await ctx.sleep('hour', HOUR_MS)
      return ctx.continueWith(2)
    })
    const signals = [{ name: 'approved', payload: { by: 'kim' }, afterMs: 2 * HOUR_MS }]
    expect(await runWorkflow(listening, 1, { signals })).toMatchObject({ result: { by: 'kim' } })
  })

  it('Of several open waits for one signal the newest takes it, as on the server', async () => {
    const reminding = workflow('reminding', { version: 1 }, async (ctx): Promise<number> => {
      for (let reminders = 0; ; reminders++) {
        const over = ctx.sleep('day', 24 * HOUR_MS).then(() => 'over')
        const approved = ctx.signal('approved', approval).then(() => 'approved')
        if ((await ctx.race([over, approved])) === 'approved' || reminders === 9) return reminders
      }
    })
    const signals = [{ name: 'approved', payload: { by: 'kim' }, afterMs: 60 * HOUR_MS }]
    expect(await runWorkflow(reminding, undefined, { signals })).toMatchObject({
      result: 2,
      elapsedMs: 60 * HOUR_MS,
    })
  })

  it('A signal that comes too late for one wait is handed to one other wait', async () => {
    const other = signal<{ by: string }>('other')
    const waiting = workflow('waiting', { version: 1 }, async (ctx): Promise<unknown> => {
      void ctx.signal('first', approval, { timeoutMs: HOUR_MS })
      for (const id of ['a', 'b']) {
        await ctx.sleep(`before-${id}`, HOUR_MS / 3)
        void ctx.signal(id, other, { timeoutMs: 9 * HOUR_MS })
      }
      await ctx.sleep('later', HOUR_MS / 2)
      const one = await ctx.signal('second', approval, { timeoutMs: 2 * HOUR_MS })
      return [one, (await ctx.signal('third', approval, { timeoutMs: 2 * HOUR_MS })) ?? 'nothing']
    })
    const signals = [{ name: 'approved', payload: { by: 'kim' }, afterMs: 1.5 * HOUR_MS }]
    expect(await runWorkflow(waiting, undefined, { signals })).toMatchObject({
      result: [{ by: 'kim' }, 'nothing'],
    })
  })

  it('A signal that a wait has taken behind the end of its generation comes to the next one, and to no further one', async () => {
    const listening = workflow('listening', { version: 1 }, async (ctx, input: number): Promise<unknown> => {
      const approved = ctx.signal('approved', approval, { timeoutMs: HOUR_MS })
      if (input === 2)
        return ctx.continueWith(((await approved) as { by: string } | undefined) === undefined ? 9 : 3)
      if (input === 3) return { generation: ctx.info.generation, again: (await approved) ?? 'nothing' }
      // The call is still under way when the function goes on, and the signal comes before it ends.
      void ctx.call('charge', charge, { payload: { cents: 1 } })
      await ctx.sleep('moment', 1)
      return ctx.continueWith(2)
    })
    const signals = [{ name: 'approved', payload: { by: 'kim' }, afterMs: 1_000 }]
    const delaysMs = { charge: 2_000 }
    expect(await runWorkflow(listening, 1, { signals, answers, delaysMs })).toMatchObject({
      result: { generation: 3, again: 'nothing' },
    })
  })
})
