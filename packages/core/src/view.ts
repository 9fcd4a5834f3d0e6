import type { BranchView, OpView, Status, TransactionView } from '@counterstep/protocol'
import { deadlineAt } from './saga-effects.ts'
import type { OpProgress, SagaOp, Transaction } from './transaction.ts'

/**
 * A transaction as a caller may see it. `durableStatus` is the last status that is durable: a later one is not
 * shown, nor what only it has, because a crash could take it back.
 */
export function viewTransaction(transaction: Transaction, durableStatus: Status): TransactionView {
  const { definition, attention } = transaction
  const deadline = deadlineAt(transaction)
  const abort = durableStatus !== 'submitted' && 'abort' in transaction ? transaction.abort : undefined
  const finished = durableStatus === transaction.status && 'finishedAt' in transaction
  return {
    gid: transaction.gid,
    kind: transaction.kind,
    status: durableStatus,
    createdAt: transaction.createdAt,
    updatedAt: transaction.updatedAt,
    epoch: transaction.epoch,
    ...(definition.delayMs === undefined ? {} : { startAt: transaction.createdAt + definition.delayMs }),
    ...(deadline === undefined ? {} : { deadlineAt: deadline }),
    ...(finished ? { finishedAt: transaction.finishedAt } : {}),
    ...(attention === undefined ? {} : { attention }),
    ...(abort === undefined
      ? {}
      : { abort: { cause: abort.cause, at: abort.at, ...branchId(transaction, abort.branch) } }),
    branches: transaction.branches.map((_, branch) => viewBranch(transaction, branch)),
  }
}

function branchId(transaction: Transaction, branch: number | undefined): { branchId?: string } {
  const id = branch === undefined ? undefined : transaction.definition.branches[branch]?.id
  return id === undefined ? {} : { branchId: id }
}

function viewBranch(transaction: Transaction, branch: number): BranchView {
  const { branches } = transaction.definition
  const definition = branches[branch]
  const progress = transaction.branches[branch]
  const ops: OpView[] = []
  if (progress !== undefined) {
    ops.push(viewOp('action', definition?.action, progress.action))
    if (definition?.compensation !== undefined) {
      ops.push(viewOp('compensate', definition.compensation, progress.compensate))
    }
  }
  return {
    id: definition?.id ?? '',
    after: (definition?.after ?? []).map((before) => branches[before]?.id ?? ''),
    ops,
  }
}

function viewOp(op: SagaOp, url: string | undefined, progress: OpProgress): OpView {
  const { failures: _failures, waits: _waits, ...shown } = progress
  return { op, ...(url === undefined ? {} : { url }), ...shown }
}
