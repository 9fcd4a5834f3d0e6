import {
  type CallKey,
  findCallUrl,
  findEdit,
  findUnusableValue,
  listCalls,
  type Transaction,
  toSubmitRequest,
} from '@counterstep/core'
import type { OpRequestView, TransactionRequestView } from '@counterstep/protocol'
import { buildBranchCall } from '../branch-call.ts'

/** Shows the requests as the branches are called with them. They may hold secrets. */
export function viewRequests(transaction: Transaction, timeoutMsMax: number): TransactionRequestView {
  const calls = listCalls(transaction).filter((call) => (findCallUrl(transaction, call) ?? '') !== '')
  return {
    gid: transaction.gid,
    kind: transaction.kind,
    submit: toSubmitRequest(transaction),
    ops: calls.map((call) => viewRequest(transaction, call, timeoutMsMax)),
  }
}

function viewRequest(transaction: Transaction, call: CallKey, timeoutMsMax: number): OpRequestView {
  const known = canBeBuilt(transaction, call) ? transaction : withoutValues(transaction)
  const built = buildBranchCall({ transaction: known }, call, 1, timeoutMsMax)
  const { branchId, op, method, url, body, contentType, headers, timeoutMs } = built
  return {
    branchId,
    op,
    method,
    url,
    body,
    contentType,
    headers: { ...headers },
    timeoutMs,
    ...(findEdit(transaction, call) === undefined ? {} : { edited: true }),
  }
}

/** A request that waits for an answer is shown with its places open. */
function canBeBuilt(transaction: Transaction, { branch, op }: CallKey): boolean {
  // The values of a step are its own, and in its compensation each of them may be missing.
  if (transaction.kind !== 'saga' || transaction.definition.values === undefined) return true
  if (op !== 'action' && op !== 'compensate') return true
  return findUnusableValue(transaction, branch, op) === undefined
}

function withoutValues(transaction: Transaction): Transaction {
  if (transaction.kind !== 'saga') return transaction
  const { values: _, ...definition } = transaction.definition
  return { ...transaction, definition }
}
