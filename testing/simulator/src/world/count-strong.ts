import type { Transaction } from '@counterstep/core'

/** Counts the branches whose values are recorded. */
export function countValues(transaction: Transaction): number {
  if (transaction.kind !== 'saga') return 0
  return transaction.branches.filter(({ action }) => action.values !== undefined).length
}

/**
 * Counts what only a strong save records: commands of operators, values, signals, waits that no signal has ended in time, and the mark of no return.
 * A signal that was taken counts twice, because its sender may have been told so.
 */
export function countStrong(transaction: Transaction): number {
  const { trail = [] } = transaction
  const commands = trail.reduce((sum, { count = 1 }) => sum + count, 0)
  if (transaction.kind !== 'saga') return commands
  const { branches, definition, noReturnAt, signals = [] } = transaction
  const timedOut = branches.filter(
    ({ action }, branch) => definition.branches[branch]?.wait !== undefined && action.error !== undefined,
  )
  const taken = signals.filter(({ takenBy }) => takenBy !== undefined)
  const marks = noReturnAt === undefined ? 0 : 1
  return commands + countValues(transaction) + signals.length + taken.length + timedOut.length + marks
}
