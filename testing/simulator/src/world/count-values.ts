import type { Transaction } from '@counterstep/core'

/** Counts the branches whose values are recorded. A save in which there are more of them is a strong one. */
export function countValues(transaction: Transaction): number {
  if (transaction.kind !== 'saga') return 0
  return transaction.branches.filter(({ action }) => action.values !== undefined).length
}
