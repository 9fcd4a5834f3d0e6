import { type Clock, mayShow, type StoredTransaction } from '@counterstep/core'
import type { TransactionView } from '@counterstep/protocol'
import type { Runner } from './runner.ts'
import { viewRow } from './view-row.ts'

/**
 * Shows the run here if it is at least as new as the row, else the row: a
 * caller may already have seen another node's command there.
 */
export function chooseNewestView(
  { runner, clock }: { readonly runner: Runner; readonly clock: Clock },
  row: StoredTransaction,
): TransactionView {
  const run = runner.get(row.gid)
  const isNewest =
    run !== undefined && mayShow(run, clock.now()) && run.token === row.token && run.version >= row.version
  return (isNewest ? runner.view(row.gid) : undefined) ?? viewRow(row)
}
