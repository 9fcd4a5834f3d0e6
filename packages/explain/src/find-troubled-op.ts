import type { OpView, TransactionView } from '@counterstep/protocol'

/** An op with the branch that has it. The query-back of a message has none. */
export interface PlacedOp {
  readonly branchId?: string
  readonly op: OpView
}

/** Finds the waiting op that holds the transaction up: the one with the most attempts. */
export function findTroubledOp(view: TransactionView): PlacedOp | undefined {
  return listOps(view)
    .filter(({ op }) => isTroubled(op))
    .sort((a, b) => b.op.attempts - a.op.attempts)[0]
}

export function listOps(view: TransactionView): readonly PlacedOp[] {
  const check = view.check === undefined ? [] : [{ op: view.check }]
  return [...check, ...view.branches.flatMap(({ id, ops }) => ops.map((op) => ({ branchId: id, op })))]
}

function isTroubled({ state, attempts, result }: OpView): boolean {
  if (state === 'by-hand' || state === 'waiting') return true
  return state === 'calling' && attempts > 1 && result !== 'success'
}
