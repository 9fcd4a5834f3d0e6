/**
 * Merges the stored row of a recorded workflow into our state. What another node has stored counts: its records stay, and ours that
 * the row lacks are added behind them. Our end stays, since only its save was refused.
 */

import { retryNow, withoutAttention } from '../rules/op-progress.ts'
import { findRecord, putOffUntil } from '../rules/recorded.ts'
import { isFinal, type OpProgress, type RecordedTransaction } from '../transaction.ts'

export function mergeRecorded(ours: RecordedTransaction, stored: RecordedTransaction): RecordedTransaction {
  const missing = ours.records.filter((record) => findRecord(stored, record) === undefined)
  const records = [...stored.records, ...missing]
  const isAlive = stored.records.some((record) => findRecord(ours, record) === undefined)
  const merged = isAlive ? learnLife({ ...ours, records }, stored) : { ...ours, records }
  const { manualRetries } = stored
  if (manualRetries <= ours.manualRetries) return merged
  if (isFinal(merged)) return { ...merged, manualRetries }
  const retried = { ...retryNow(merged, stored.updatedAt), manualRetries }
  // A retry takes the instant of the next callback away. The row has one if its client has reported after the retry.
  return isAlive ? { ...retried, check: putOffAsIn(stored.check, retried.check) } : retried
}

/** A report of its client to another node is a sign of life here, too. */
function learnLife(ours: RecordedTransaction, stored: RecordedTransaction): RecordedTransaction {
  return {
    ...withoutAttention(ours),
    check: putOffAsIn(stored.check, ours.check),
    updatedAt: Math.max(ours.updatedAt, stored.updatedAt),
  }
}

function putOffAsIn({ nextAt }: OpProgress, ours: OpProgress): OpProgress {
  return nextAt === undefined ? ours : putOffUntil(ours, Math.max(ours.nextAt ?? 0, nextAt))
}
