import type { Transaction } from '@counterstep/core'

/** Counts the branches whose values are recorded. */
export function countValues(transaction: Transaction): number {
  if (transaction.kind !== 'saga') return 0
  return transaction.branches.filter(({ action }) => action.values !== undefined).length
}

/**
 * Counts what only a strong save records: values, signals, waits that no signal has ended in time, and the mark of no return.
 */
export function countStrong(transaction: Transaction): number {
  if (transaction.kind !== 'saga') return 0
  const { branches, definition, noReturnAt, signals = [] } = transaction
  const timedOut = branches.filter(
    ({ action }, branch) => definition.branches[branch]?.wait !== undefined && action.error !== undefined,
  )
  return countValues(transaction) + signals.length + timedOut.length + (noReturnAt === undefined ? 0 : 1)
}
