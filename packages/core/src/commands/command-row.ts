/**
 * Plans a command on a node that does not run the transaction. It is decided on
 * the row, and written under the row's token and version.
 */

import type { StoredTransaction, TransactionUpdate, UpdateHold } from '../ports/store.ts'
import { describeTrouble } from '../record/describe-trouble.ts'
import { decodeTransaction, encodeProgress, toFormat } from '../record/record.ts'
import type { Command } from '../rules/events.ts'
import type { Rules } from '../rules/rules.ts'
import { isRetrying } from '../run/plan-save.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import { findRefusal, type Refusal } from './refuse-command.ts'

export type CommandPlan =
  | {
      readonly type: 'update'
      readonly transaction: Transaction
      readonly update: Omit<TransactionUpdate, 'writeId'>
    }
  /** The command has been done already. */
  | { readonly type: 'nothing'; readonly transaction: Transaction }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly transaction: Transaction }

/**
 * Plans the update. This node does not know which calls an owner has sent, so an abort takes every branch as sent, and the row
 * records that.
 * Throws AssertionError when the record cannot be read.
 */
export function planCommand(
  rules: Rules,
  row: StoredTransaction,
  command: Command,
  settings: { readonly retentionMs: number | 'never'; readonly storeNow: number },
): CommandPlan {
  const stored = decodeTransaction(row)
  const refusal = findRefusal(stored, command)
  if (refusal !== undefined) return { type: 'refused', refusal, transaction: stored }
  // The row was given back with the full list of sent calls and, by its version, not claimed since, so no other call
  // can have been sent.
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
    format: toFormat(next.definition),
    progress: encodeProgress(next),
    retrying: isRetrying(next),
    attention: next.attention !== undefined,
    ...describeTrouble(next),
    ...(isListKept ? {} : { sentList: 'unknown' }),
    hold: isFinal(next)
      ? { type: 'finish', retentionMs: settings.retentionMs }
      : commandHold(row, command, next),
  }
  return { type: 'update', transaction: next, update }
}

/**
 * Chooses the hold of a command. A registered branch and a signal that is kept leave the due instant as it is; every other
 * command makes the row due now.
 */
function commandHold({ dueAt }: StoredTransaction, command: Command, next: Transaction): UpdateHold {
  const changesNothingNow =
    command.type === 'register-asked' ||
    (command.type === 'signal-asked' && !wasTaken(next, command.signal.id))
  return changesNothingNow ? { type: 'command', dueAt } : { type: 'command' }
}

function wasTaken(transaction: Transaction, signalId: string): boolean {
  if (transaction.kind !== 'saga') return false
  return transaction.signals?.find(({ id }) => id === signalId)?.takenBy !== undefined
}
