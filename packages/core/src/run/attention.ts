import type { Transaction } from '../transaction.ts'
import { hasRested } from './rest-mark.ts'

/** Whether a person has to be told: the mark is new, or it now says more than that claims made no progress. */
export function beginsToNeedAttention(before: Transaction, after: Transaction): boolean {
  if (after.attention === undefined) return false
  return before.attention === undefined || (hasRested(before) && !hasRested(after))
}
