import { findTroubledOp } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'

/** Chooses what is looked at first: the op that holds the transaction up, or the one that turned it around. */
export function chooseLane(view: TransactionView): string | undefined {
  const troubled = findTroubledOp(view)
  if (troubled !== undefined) return toLaneId(troubled.branchId, troubled.op.op)
  const refused = view.branches.find(({ id }) => id === view.abort?.branchId)
  return refused?.ops[0] === undefined ? undefined : toLaneId(refused.id, refused.ops[0].op)
}

function toLaneId(branchId: string | undefined, op: string): string {
  return branchId === undefined ? op : `${branchId}.${op}`
}
