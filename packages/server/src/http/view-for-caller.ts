import type { Gate, RequestHead } from '@counterstep/access'
import type { BranchView, TransactionView } from '@counterstep/protocol'

/**
 * Returns the view for a caller that has just decided about a transaction. Without the scope `read` it shows how far the transaction
 * is, and nothing that its submitter or its services have said, since the gid alone lets any key with `submit` ask.
 */
export function toViewForCaller(
  gate: Pick<Gate, 'allowsScope'>,
  head: RequestHead,
  view: TransactionView,
): TransactionView {
  return gate.allowsScope('read', head) ? view : toProgressView(view)
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
