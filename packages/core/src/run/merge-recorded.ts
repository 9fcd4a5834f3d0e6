/**
 * Merges the stored row of a recorded workflow into our state. What another node has stored counts: its records stay, and ours that
 * the row lacks are added behind them. Our end stays, since only its save was refused.
 */

import { retryNow } from '../rules/op-progress.ts'
import { findRecord } from '../rules/recorded.ts'
import { isFinal, type OpProgress, type RecordedTransaction } from '../transaction.ts'

export function mergeRecorded(ours: RecordedTransaction, stored: RecordedTransaction): RecordedTransaction {
  const missing = ours.records.filter((record) => findRecord(stored, record) === undefined)
  const records = [...stored.records, ...missing]
  const isAlive = stored.records.some((record) => findRecord(ours, record) === undefined)
  const check = isAlive ? laterOf(ours.check, stored.check) : ours.check
  const merged = { ...ours, records, check }
  const { manualRetries } = stored
  if (manualRetries <= ours.manualRetries) return merged
  return isFinal(merged)
    ? { ...merged, manualRetries }
    : { ...retryNow(merged, stored.updatedAt), manualRetries }
}

/** A record that another node has stored puts our next callback off, too. */
function laterOf(ours: OpProgress, stored: OpProgress): OpProgress {
  if (stored.nextAt === undefined) return ours
  const nextAt = Math.max(ours.nextAt ?? 0, stored.nextAt)
  return ours.state === 'calling' ? { ...ours, nextAt } : { ...ours, state: 'waiting', nextAt }
}
