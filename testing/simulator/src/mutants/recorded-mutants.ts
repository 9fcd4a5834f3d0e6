/** Wrong rules for recorded workflows. */
import {
  type Command,
  decodeTransaction,
  encodeProgress,
  isFinal,
  RULES,
  type Rules,
  type StoredTransaction,
  type Transaction,
  type TransactionUpdate,
} from '@counterstep/core'
import type { Flaw } from './wiring.ts'

/** A callback that answers success has ended the workflow. */
export const callbackEndsIt: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    const hasAnswered = event.type === 'answered' && event.answer.result === 'success' && next !== transaction
    if (next.kind !== 'recorded' || next.status !== 'prepared' || !hasAnswered) return folded
    return {
      next: { ...next, status: 'succeeded', result: '', finishedAt: now, updatedAt: now },
      durability: 'strong',
    }
  },
}

/** A report of its client leaves the next callback where it was. */
export const reportPutsNothingOff: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (event.type !== 'record-asked' || next.kind !== 'recorded' || transaction.kind !== 'recorded')
      return folded
    return { ...folded, next: { ...next, check: transaction.check } }
  },
}

/** Returns the row as a run would merge it that forgets what its client has reported on another node. */
export function spoilRecords(
  row: StoredTransaction,
  ours: Transaction,
  flaw: Flaw | undefined,
): StoredTransaction {
  if (flaw !== 'record-dropped-on-learn') return row
  const stored = decodeTransaction(row)
  if (stored.kind !== 'recorded' || ours.kind !== 'recorded' || isFinal(stored)) return row
  return { ...row, progress: encodeProgress({ ...stored, records: ours.records }) }
}

/** Returns the write of a node that takes a second result. Undefined: there is none to take. */
export function takeSecondResult(
  row: StoredTransaction,
  command: Command,
  flaw: Flaw | undefined,
): Omit<TransactionUpdate, 'writeId'> | undefined {
  if (flaw !== 'second-result-wins' || command.type !== 'end-asked' || command.end.status === 'failed')
    return undefined
  const stored = decodeTransaction(row)
  if (stored.kind !== 'recorded' || stored.status !== 'succeeded' || stored.result === command.end.result)
    return undefined
  const { gid, token, version, format } = row
  return {
    ...{ gid, token, version, format, status: 'succeeded', retrying: false, attention: false },
    progress: encodeProgress({ ...stored, result: command.end.result }),
    hold: { type: 'finish', retentionMs: 'never' },
  }
}
