/** A command by a node that does not run the transaction: decided on the row, written under the row's token and version. */

import type { StoredTransaction, TransactionUpdate, UpdateHold } from '../ports/store.ts'
import { decodeTransaction, encodeProgress, formatOf } from '../record/record.ts'
import type { Command } from '../rules/events.ts'
import type { Rules } from '../rules/rules.ts'
import { isRetrying } from '../run/plan-save.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import { type Refusal, refusalOf } from './refuse-command.ts'

export type CommandPlan =
  | {
      readonly type: 'update'
      readonly transaction: Transaction
      readonly update: Omit<TransactionUpdate, 'writeId'>
    }
  /** It has been done already. */
  | { readonly type: 'nothing'; readonly transaction: Transaction }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly transaction: Transaction }

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
  const refusal = refusalOf(stored, command)
  if (refusal !== undefined) return { type: 'refused', refusal, transaction: stored }
  // Given back with the full list, and by its version not claimed since: nobody can have sent anything else.
  const listIsKnown = !row.owned && row.sentList === 'released'
  const isListKept = listIsKnown || (command.type !== 'abort-asked' && command.type !== 'stop-asked')
  const known = isListKept ? stored : { ...stored, sentUnknown: true }
  const { next } = rules.fold(known, command, settings.storeNow)
  if (next === known) return { type: 'nothing', transaction: stored }
  const update: Omit<TransactionUpdate, 'writeId'> = {
    gid: row.gid,
    token: row.token,
    version: row.version,
    status: next.status,
    format: formatOf(next.definition),
    progress: encodeProgress(next),
    retrying: isRetrying(next),
    attention: next.attention !== undefined,
    ...(isListKept ? {} : { sentList: 'unknown' }),
    hold: isFinal(next) ? { type: 'finish', retentionMs: settings.retentionMs } : commandHold(row, command),
  }
  return { type: 'update', transaction: next, update }
}

/** A branch more changes nothing about when somebody must look; a retry that asks for it, and every decision, does. */
function commandHold({ dueAt }: StoredTransaction, { type }: Command): UpdateHold {
  return type === 'register-asked' ? { type: 'command', dueAt } : { type: 'command' }
}
