import { someOp } from '../rules/op-progress.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import type { BulkFate } from './bulk-job.ts'

/**
 * Tells how a transaction has got on since it was commanded at `givenAt`. A retry is no success by itself: only the next
 * answer of what has waited tells.
 */
export function judgeFate(transaction: Transaction, givenAt: number): Extract<BulkFate, 'g' | 'o' | 'f'> {
  if (isFinal(transaction)) return 'o'
  const hasFailed = someOp(transaction, ({ state, endedAt = 0 }) => state === 'waiting' && endedAt > givenAt)
  if (hasFailed) return 'f'
  // A first call has not failed yet, so another op has succeeded before it.
  const isAwaited = someOp(
    transaction,
    ({ state, attempts }) => state === 'waiting' || (state === 'calling' && attempts > 1),
  )
  return isAwaited ? 'g' : 'o'
}
