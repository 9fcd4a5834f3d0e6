import { type Barrier, BranchFailure, endpoint, step, workflow } from '@counterstep/sdk'
import type { Entry } from './bank-work.ts'
import type { TransferPayload } from './transfer-payload.ts'

/** The database transaction of a local step. An entry that it writes stands in the ledger under the step's slot. */
export interface StepTx {
  write(entry: Entry): void | Promise<void>
}

/** An amount that a local step adds to an account of its own bank. */
export interface StepMove {
  readonly account: string
  readonly cents: number
  readonly refuses: boolean
}

/** A transfer of any bank, as the workflow calls it. */
export interface CalledMove {
  readonly url: string
  readonly payload: TransferPayload & { readonly secret: string }
}

export interface TransferInput {
  /** Two that run one after the other at first, and one that runs beside the last call. */
  readonly moves: readonly [StepMove, StepMove, StepMove]
  readonly calls: readonly [CalledMove, CalledMove]
  readonly restMs: number
  /** The function fails when everything is done. */
  readonly refusesAtLast: boolean
}

export const TRANSFER_WORKFLOW = 'transfer'

const move = step('move', {
  do(tx: StepTx, { account, cents, refuses }: StepMove) {
    if (refuses) throw new BranchFailure('the account is closed')
    return tx.write({ account, cents })
  },
  undo: (tx, { account, cents }) => tx.write({ account, cents: -cents }),
})

/** The workflow that each bank serves beside its transfers: steps behind its own barrier, and calls of any bank. */
export function createTransferWorkflow(barrier: Barrier<StepTx>) {
  return workflow(
    TRANSFER_WORKFLOW,
    { version: 1, barrier, steps: [move] },
    async (ctx, { moves, calls, restMs, refusesAtLast }: TransferInput) => {
      const call = (id: string, { url, payload }: CalledMove) => {
        const transfer = endpoint<CalledMove['payload'], void, string>(url)
        const undo = endpoint<CalledMove['payload'], void>(url)
        return ctx.call(id, transfer, { payload, undo: () => ({ to: undo, payload }) })
      }
      await ctx.step(move, moves[0])
      await ctx.step(move, moves[1])
      await call('first', calls[0])
      await ctx.sleep('rest', restMs)
      await ctx.all([call('second', calls[1]), ctx.step(move, moves[2])])
      if (refusesAtLast) throw new BranchFailure('it is refused at last')
      return { moved: calls[0].payload.cents }
    },
  )
}
