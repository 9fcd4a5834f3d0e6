import { DatabaseSync } from 'node:sqlite'
import { type Barrier, type BarrierCall, BranchFailure, endpoint, step, workflow } from '@counterstep/sdk'
import { sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { workflowHandler } from '@counterstep/sdk/fastify'
import { type FastifyInstance, fastify } from 'fastify'

/** A call waits so long for the bank, which writes the same file. */
const BUSY_MS_MAX = 5_000
const REST_MS = 30

export interface WorkflowServer {
  readonly url: string
  close(): Promise<void>
}

/** The money that a workflow moves by its own steps and by calls of the bank, and its way of ending. */
export interface TransferInput {
  readonly bank: string
  readonly from: string
  readonly to: string
  readonly amountCents: number
  /**
   * `detours`: a step of its own fails, and the function goes another way. `refuses`: the function fails when all is done.
   * `is-refused`: the last call fails.
   */
  readonly ends: 'plainly' | 'detours' | 'refuses' | 'is-refused'
  /** The function then does it all again, as a new generation with this way of ending. */
  readonly goesOn?: TransferInput['ends']
  /** How long the bank takes for the last call. */
  readonly slowMs?: number
}

interface Move {
  readonly account: string
  readonly cents: number
}

/** The database transaction of a step, with the call whose effect it is, so that the ledger names the slot. */
interface StepTx {
  readonly database: DatabaseSync
  readonly call: BarrierCall
}

const move = step('move', {
  do: (tx: StepTx, { account, cents }: Move) => writeMove(tx, account, cents),
  undo: (tx, { account, cents }) => void writeMove(tx, account, -cents),
})

export async function startWorkflowServer(file: string): Promise<WorkflowServer> {
  const app = buildWorkflowApp(file)
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
}

/**
 * Serves a workflow over the bank's own file: its steps write the same accounts and the same ledger, and its calls stand in the
 * same log.
 */
export function buildWorkflowApp(file: string): FastifyInstance {
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX })
  const app = fastify({ forceCloseConnections: true })
  app.addHook('onClose', () => database.close())
  logStepCalls(app, database)
  app.post('/workflows', workflowHandler([createTransfer(database)]))
  return app
}

function createTransfer(database: DatabaseSync) {
  const inner = sqliteBarrier(database)
  const barrier: Barrier<StepTx> = {
    run: (call, effect) => inner.run(call, (tx, original) => effect({ database: tx, call }, original)),
  }
  return workflow(
    'transfer',
    { version: 1, barrier, steps: [move] },
    async (ctx, input: TransferInput): Promise<{ moved: number }> => {
      const { bank, from, to, amountCents, ends, goesOn, slowMs = 0 } = input
      const credit = endpoint<{ account: string; amountCents: number; slowMs: number }, void, string>(
        `${bank}/credit`,
      )
      const undoCredit = endpoint<{ account: string; amountCents: number }, void>(`${bank}/credit-undo`)
      const callCredit = (id: string, account: string, cents: number) =>
        ctx.call(id, credit, {
          payload: { account, amountCents: cents, slowMs },
          undo: () => ({ to: undoCredit, payload: { account, amountCents: cents } }),
        })
      await ctx.step(move, { account: from, cents: -amountCents })
      await ctx.step(move, { account: from, cents: -1 })
      if (ends === 'detours') await moveOrGiveUp(() => ctx.step(move, { account: 'frozen', cents: 1 }))
      await callCredit('credit', to, amountCents)
      await ctx.sleep('rest', REST_MS)
      await ctx.all([
        callCredit('fee', ends === 'is-refused' ? 'frozen' : to, 2),
        ctx.step(move, { account: from, cents: -1 }),
      ])
      if (goesOn !== undefined)
        return ctx.continueWith({ bank, from, to, amountCents, ends: goesOn }, { keep: true })
      if (ends === 'refuses') throw new BranchFailure('it is refused at last')
      return { moved: amountCents }
    },
  )
}

async function moveOrGiveUp(run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error: unknown) {
    if (!(error instanceof BranchFailure)) throw error
  }
}

function writeMove({ database, call }: StepTx, account: string, cents: number): number {
  const found = database
    .prepare(
      `UPDATE account SET balance_cents = balance_cents + ? WHERE id = ? AND (frozen = 0 OR ? = 'compensate')
      RETURNING balance_cents AS balanceCents`,
    )
    .get(cents, account, call.op)
  if (found === undefined) throw new BranchFailure('the account is frozen', { code: 'ACCOUNT_FROZEN' })
  database
    .prepare('INSERT INTO ledger (gid, branch_id, op, account, delta_cents, at) VALUES (?, ?, ?, ?, ?, ?)')
    .run(call.gid, call.branchId, call.op, account, cents, Date.now())
  return Number(found.balanceCents)
}

/** A plan is no branch, so its calls do not stand in the log. */
function logStepCalls(app: FastifyInstance, database: DatabaseSync): void {
  const insert = database.prepare(
    'INSERT INTO call_log (gid, branch_id, op, attempt, epoch, at, status_code) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  app.addHook('onSend', async ({ query, headers }, { statusCode }) => {
    const { gid, branch_id, op } = query as Readonly<Record<string, string>>
    if (gid === undefined || branch_id === undefined || op === undefined || op === 'plan') return
    const numbers = ['counterstep-attempt', 'counterstep-epoch'].map((name) => Number(headers[name] ?? 0))
    insert.run(gid, branch_id, op, ...numbers, Date.now(), statusCode)
  })
}
