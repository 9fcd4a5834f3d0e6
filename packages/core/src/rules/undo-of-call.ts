import { findEdit } from '../record/edits.ts'
import { findUrl } from '../record/find-url.ts'
import type { Transaction } from '../transaction.ts'
import type { CallKey } from './events.ts'

/**
 * Tells whether the call is an action that nothing will undo, so that no compensation could hold back a copy of the call which is still
 * on its way when it has been refused. The service then has to keep the refusal. A retriable is called again.
 */
export function hasNoUndo(transaction: Transaction, { branch, op }: CallKey): boolean {
  if (op !== 'action') return false
  const called = findSagaBranch(transaction, branch)
  if (called === undefined) return false
  if (called.role === 'pivot') return true
  // A local step of a workflow has a compensation even if it has no undo: its handler then holds back copies of one that failed.
  return called.role === undefined && (called.compensation ?? '') === ''
}

/**
 * Tells whether the call undoes an action of a saga that its service has answered with success, so that a service which finds nothing
 * to undo has lost the record of it. What an operator has done by hand, or sent elsewhere, may have left none. In a workflow no
 * operator could skip the undo that its service then refuses.
 */
export function mustUndo(transaction: Transaction, { branch, op }: CallKey): boolean {
  if (op !== 'compensate' || transaction.kind !== 'saga') return false
  const action = { branch, op: 'action' } as const
  const { state, byHand } = transaction.branches[branch]?.action ?? {}
  return (
    state === 'succeeded' &&
    byHand === undefined &&
    findUrl(transaction, action) !== '' &&
    findEdit(transaction, action)?.url === undefined &&
    findEdit(transaction, { branch, op })?.url === undefined
  )
}

function findSagaBranch(transaction: Transaction, position: number) {
  switch (transaction.kind) {
    case 'saga':
      return transaction.definition.branches[position]
    case 'workflow':
      return transaction.steps[position]?.branch
    default:
      return undefined
  }
}
