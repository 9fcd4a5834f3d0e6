import type { OpView, TransactionView } from '@counterstep/protocol'

/** An op with the branch that has it. The query-back of a message and the plan call of a workflow have none. */
export interface PlacedOp {
  readonly branchId?: string
  /** The name by which code knows a local step. It is clearer than the id, which is a slot. */
  readonly stepId?: string
  readonly op: OpView
}

/** Finds the waiting op that holds the transaction up: the one with the most attempts. */
export function findTroubledOp(view: TransactionView): PlacedOp | undefined {
  return listOps(view)
    .filter(({ op }) => isTroubled(op))
    .sort((a, b) => b.op.attempts - a.op.attempts)[0]
}

export function listOps(view: TransactionView): readonly PlacedOp[] {
  const own = [view.check, view.plan].flatMap((op) => (op === undefined ? [] : [{ op }]))
  const ofBranches = view.branches.flatMap(({ id: branchId, stepId, ops }) =>
    ops.map((op) => ({ branchId, ...(stepId === undefined ? {} : { stepId }), op })),
  )
  return [...own, ...ofBranches]
}

function isTroubled({ state, attempts, result }: OpView): boolean {
  if (state === 'by-hand' || state === 'waiting') return true
  return state === 'calling' && attempts > 1 && result !== 'success'
}
