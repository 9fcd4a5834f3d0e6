/** A command by a node that does not run the transaction: decided on the row, written under the row's token and version. */

import { isRetrying } from './plan-save.ts'
import { decodeTransaction, encodeProgress, FORMAT } from './record.ts'
import type { Command } from './run-events.ts'
import type { StoredTransaction, TransactionUpdate } from './store.ts'
import { isFinal, type Transaction } from './transaction.ts'
import type { Rules } from './transition.ts'

export type CommandPlan =
  | {
      readonly type: 'update'
      readonly transaction: Transaction
      readonly update: Omit<TransactionUpdate, 'writeId'>
    }
  /** It has been done already. */
  | { readonly type: 'nothing'; readonly transaction: Transaction }
  | { readonly type: 'already-final'; readonly transaction: Transaction }

/**
 * This node does not know what a runner has sent, so an abort takes every branch as sent, and the row remembers it.
 * Throws AssertionError when the record cannot be read.
 */
export function planCommand(
  rules: Rules,
  row: StoredTransaction,
  command: Command,
  settings: { readonly retentionMs: number | 'never'; readonly storeNow: number },
): CommandPlan {
  const stored = decodeTransaction(row)
  if (isFinal(stored)) return { type: 'already-final', transaction: stored }
  // Given back with the full list, and by its version not claimed since: nobody can have sent anything else.
  const listIsKnown = !row.owned && row.sentList === 'released'
  const known = command === 'retry' || listIsKnown ? stored : { ...stored, sentUnknown: true }
  const { next } = rules.fold(known, { type: `${command}-asked` }, settings.storeNow)
  if (next === known) return { type: 'nothing', transaction: stored }
  const update: Omit<TransactionUpdate, 'writeId'> = {
    gid: row.gid,
    token: row.token,
    version: row.version,
    status: next.status,
    format: FORMAT,
    progress: encodeProgress(next),
    retrying: isRetrying(next),
    attention: next.attention !== undefined,
    ...(command === 'retry' || listIsKnown ? {} : { sentList: 'unknown' }),
    hold: isFinal(next) ? { type: 'finish', retentionMs: settings.retentionMs } : { type: 'command' },
  }
  return { type: 'update', transaction: next, update }
}
