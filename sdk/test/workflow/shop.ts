import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { type AnsweredBranch, answerWorkflow, BranchFailure, step, workflow } from '../../src/index.ts'
import type { Workflow } from '../../src/workflow/workflow.ts'

/** Everything that a plan call says, for a workflow that has just begun. */
export const PLAN = {
  v: 1,
  gid: 'order-17',
  workflow: 'order',
  generation: 1,
  plan: 1,
  acceptedAt: 5,
  startAt: 5,
  at: 9,
  input: { sku: 'cup', cents: 100 },
  journal: [],
  pending: [],
  grant: { from: 1, count: 0 },
  bytesLeft: 1_000_000,
} as const

/** The body of a call of a local step. */
export const STEP = { v: 1, workflow: 'order', version: 1, idempotencyKey: 'order-17/~1' } as const

/** A shop with a database of its own in memory, whose local steps write there. */
export function openShop() {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  migrateBarrier(database)
  database.exec('CREATE TABLE reserved (id INTEGER PRIMARY KEY, sku TEXT NOT NULL)')
  const reserve = step('reserve', {
    do: (tx: DatabaseSync, { sku }: { sku: string }) => {
      if (sku === 'broken') throw new Error('the disk is on fire')
      const { lastInsertRowid } = tx.prepare('INSERT INTO reserved (sku) VALUES (?)').run(sku)
      if (sku === 'none') throw new BranchFailure('no cups', { code: 'SOLD_OUT', details: { left: 0 } })
      return { id: Number(lastInsertRowid), ...(sku === 'large' ? { text: 'x'.repeat(20_000) } : {}) }
    },
    undo: (tx, input, done) => {
      tx.prepare('DELETE FROM reserved WHERE id = ? AND sku = ?').run(done.id, input.sku)
    },
  })
  const note = step('note', {
    do: (tx: DatabaseSync) => void tx.exec("INSERT INTO reserved (sku) VALUES ('note')"),
  })
  return {
    database,
    barrier: sqliteBarrier(database),
    reserve,
    note,
    listReserved: () =>
      database
        .prepare('SELECT sku FROM reserved ORDER BY id')
        .all()
        .map(({ sku }) => sku),
    listRows: () =>
      database
        .prepare('SELECT branch_id, op, reason, answer FROM counterstep_barrier ORDER BY branch_id, op')
        .all()
        .map(({ branch_id, op, reason, answer }) => [branch_id, op, reason, answer]),
  }
}

/** Reserves twice and takes a note. How it goes on is up to the journal. */
export function orderTwice({ barrier, reserve, note }: ReturnType<typeof openShop>) {
  return workflow(
    'order',
    { version: 1, barrier, steps: [reserve, note] },
    async (ctx, { sku }: { sku: string; cents: number }) => {
      const first = await ctx.step(reserve, { sku })
      const second = await ctx.step(reserve, { sku: `${sku}-${first.id}` })
      await ctx.step(note)
      return [first.id, second.id]
    },
  )
}

export interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly error: AnsweredBranch['error']
}

/** Calls the handler as an orchestrator does: `op` is plan, action or compensate, and `branchId` the slot. */
export async function callHandler(
  workflows: readonly Workflow<unknown, unknown>[],
  op: string,
  payload: unknown,
  branchId = op === 'plan' ? '00' : '~1',
  sent: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const url = `/workflows?gid=order-17&trans_type=workflow&branch_id=${branchId}&op=${op}`
  const { answer, error } = await answerWorkflow(workflows, { url, headers: sent, payload })
  const { statusCode: status, headers, body } = answer
  return { status, headers, error, body: body === undefined ? undefined : JSON.parse(body) }
}
