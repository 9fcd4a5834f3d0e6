import { type Gate, isGranted, type RequestHead, type ScopedAccess } from '@counterstep/access'
import type { BranchView, TransactionView } from '@counterstep/protocol'

/** A key with one of these sees transactions, or gives commands that show them. */
const SEEING: ScopedAccess = ['read', 'operate', 'admin']

/**
 * Returns the view for a caller that has just changed a transaction. One with the scope `submit` alone is shown how far the
 * transaction is, and the ids of its branches, since it needs no more than the gid to ask.
 */
export function toViewForCaller(
  gate: Pick<Gate, 'allowsScope'>,
  head: RequestHead,
  view: TransactionView,
): TransactionView {
  return isGranted(SEEING, (scope) => gate.allowsScope(scope, head)) ? view : toProgressView(view)
}

function toProgressView(view: TransactionView): TransactionView {
  const { gid, kind, status, createdAt, updatedAt, finishedAt, epoch, branches } = view
  return {
    gid,
    kind,
    status,
    createdAt,
    updatedAt,
    ...(finishedAt === undefined ? {} : { finishedAt }),
    epoch,
    branches: branches.map(toBranchProgress),
  }
}

function toBranchProgress({ id, after, ops }: BranchView): BranchView {
  return { id, after, ops: ops.map(({ op, state, attempts }) => ({ op, state, attempts })) }
}
