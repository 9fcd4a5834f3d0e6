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

/** The requests of ops have so many characters of JSON at most, and those of one more. The others are shown in short. */
export const SHOWN_CHARACTERS_MAX = 2 * 1024 * 1024

/**
 * Writes the requests as the branches are called with them, as the JSON of a `TransactionRequestView`. They may hold secrets.
 * A saga of a few KiB may hand a value of 64 KiB to each of its ops, so the text is bounded.
 */
export function writeRequests(transaction: Transaction, timeoutMsMax: number): string {
  const calls = listCalls(transaction).filter((call) => (findCallUrl(transaction, call) ?? '') !== '')
  const head: Omit<TransactionRequestView, 'ops'> = {
    gid: transaction.gid,
    kind: transaction.kind,
    submit: toSubmitRequest(transaction),
  }
  const ops: string[] = []
  let characters = 0
  for (const call of calls) {
    const view = characters < SHOWN_CHARACTERS_MAX ? viewRequest : viewInShort
    const op = JSON.stringify(view(transaction, call, timeoutMsMax))
    characters += op.length
    ops.push(op)
  }
  return `${JSON.stringify(head).slice(0, -1)},"ops":[${ops.join()}]}`
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

/** Shows a request with its places open, and without its body and its headers. */
function viewInShort(transaction: Transaction, call: CallKey, timeoutMsMax: number): OpRequestView {
  const view = viewRequest(withoutValues(transaction), call, timeoutMsMax)
  return { ...view, body: '', headers: {}, short: true }
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
