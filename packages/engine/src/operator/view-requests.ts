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

/** All requests together are filled with values up to so many characters. Each could take the same large answer of another branch. */
const FILLED_CHARACTERS_MAX = 256 * 1024

/**
 * Shows the requests as the branches are called with them. Beyond a bound they are shown without the values that they take from other branches.
 * They may hold secrets.
 */
export function viewRequests(transaction: Transaction, timeoutMsMax: number): TransactionRequestView {
  const calls = listCalls(transaction).filter((call) => (findCallUrl(transaction, call) ?? '') !== '')
  let characters = 0
  const ops = calls.map((call) => {
    const isFilled = characters < FILLED_CHARACTERS_MAX && canBeBuilt(transaction, call)
    const view = viewRequest(isFilled ? transaction : withoutValues(transaction), call, timeoutMsMax)
    characters += view.body.length + view.url.length
    return view
  })
  return { gid: transaction.gid, kind: transaction.kind, submit: toSubmitRequest(transaction), ops }
}

function viewRequest(known: Transaction, call: CallKey, timeoutMsMax: number): OpRequestView {
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
    ...(findEdit(known, call) === undefined ? {} : { edited: true }),
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
