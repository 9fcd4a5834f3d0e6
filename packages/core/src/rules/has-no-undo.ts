import type { Transaction } from '../transaction.ts'
import { isForHandler } from '../values/build-plan-call.ts'
import type { CallKey } from './events.ts'

/**
 * Tells whether the call is an action that nothing will undo, and whose refusal is the last word. No compensation follows that could
 * hold back a copy of the call which is still on its way, so the service has to keep the refusal. A retriable is called again.
 */
export function hasNoUndo(transaction: Transaction, { branch, op }: CallKey): boolean {
  if (op !== 'action') return false
  const called = findSagaBranch(transaction, branch)
  if (called === undefined) return false
  if (called.role === 'pivot') return true
  // The code of a workflow may catch a refusal by its own code, and a copy of the refused call is answered with another one.
  return transaction.kind === 'saga' && called.role === undefined && (called.compensation ?? '') === ''
}

function findSagaBranch(transaction: Transaction, position: number) {
  switch (transaction.kind) {
    case 'saga':
      return transaction.definition.branches[position]
    case 'workflow':
      return isForHandler(transaction, position) ? undefined : transaction.steps[position]?.branch
    default:
      return undefined
  }
}
