/**
 * Plans a command on a node that does not run the transaction. It is decided on
 * the row, and written under the row's token and version.
 */

import { PARKED_AT, type StoredTransaction, type TransactionUpdate, type UpdateHold } from '../ports/store.ts'
import { describeTrouble } from '../record/describe-trouble.ts'
import { decodeTransaction, encodeProgress, toFormat } from '../record/record.ts'
import { findEntry } from '../record/trail.ts'
import type { Command } from '../rules/events.ts'
import { releaseOrphanedCall, withOp } from '../rules/op-progress.ts'
import { isGiven } from '../rules/operator-commands.ts'
import { findNamedOp } from '../rules/operator-ops.ts'
import { isPaused } from '../rules/pause.ts'
import { callbackAt } from '../rules/recorded.ts'
import type { Rules } from '../rules/rules.ts'
import { listAwaiting } from '../rules/saga-signals.ts'
import { toSaga } from '../rules/workflow-steps.ts'
import { isRetrying } from '../run/plan-save.ts'
import { hasSteps, isFinal, type Signal, type Transaction } from '../transaction.ts'
import { isPlanChanged } from './plan.ts'
import { type CommandRefusal, findRefusal } from './refuse-command.ts'

export type CommandPlan =
  | {
      readonly type: 'update'
      readonly transaction: Transaction
      readonly update: Omit<TransactionUpdate, 'writeId'>
    }
  /** The command has been done already. */
  | { readonly type: 'nothing'; readonly transaction: Transaction }
  | { readonly type: 'refused'; readonly refusal: CommandRefusal; readonly transaction: Transaction }

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
  const stored = releaseCall(decodeTransaction(row), row, command)
  const known = takeAsSent(stored, row, command)
  const refusal = refuseOnRow(row, known, command, settings.storeNow)
  if (refusal !== undefined) return { type: 'refused', refusal, transaction: stored }
  if (isGiven(command) && isPlanChanged(rules, known, command, settings.storeNow))
    return { type: 'refused', refusal: 'plan-changed', transaction: stored }
  const { next } = rules.fold(known, command, settings.storeNow)
  if (next === known) return { type: 'nothing', transaction: stored }
  const update: Omit<TransactionUpdate, 'writeId'> = {
    gid: row.gid,
    token: row.token,
    version: row.version,
    status: next.status,
    format: toFormat(next),
    progress: encodeProgress(next),
    retrying: isRetrying(next),
    attention: next.attention !== undefined,
    ...describeTrouble(next),
    ...(known === stored ? {} : { sentList: 'unknown' }),
    hold: isFinal(next)
      ? { type: 'finish', retentionMs: settings.retentionMs }
      : commandHold(row, command, next, settings.storeNow),
  }
  return { type: 'update', transaction: next, update }
}

/**
 * Takes every call as sent where this node does not know which were, for a command that depends on it: an abort and a stop
 * undo what was sent, and a skip or an edit of a call that took effect needs a confirmation.
 */
export function takeAsSent(
  stored: Transaction,
  { owned, sentList }: Pick<StoredTransaction, 'owned' | 'sentList'>,
  command: Command,
): Transaction {
  // The row was given back with the full list of sent calls and, by its version, not claimed since, so no other call
  // can have been sent.
  const isListKnown = !owned && sentList === 'released'
  const depends = command.type === 'abort-asked' || command.type === 'stop-asked' || needsRest(command)
  return isListKnown || !depends || stored.sentUnknown ? stored : { ...stored, sentUnknown: true }
}

/** A skip and an edit change one op, so they need its true state. Only the owner of a row knows that. */
function needsRest({ type }: Command): boolean {
  return type === 'skip-asked' || type === 'edit-asked'
}

/** The call of an owner that is gone counts as an attempt whose answer will not come. */
function releaseCall(stored: Transaction, { owned }: StoredTransaction, command: Command): Transaction {
  if (owned || (command.type !== 'skip-asked' && command.type !== 'edit-asked')) return stored
  const found = findNamedOp(stored, command)
  return found?.progress.state === 'calling'
    ? withOp(stored, found.call, releaseOrphanedCall(found.progress))
    : stored
}

/** While a node owns the row, the op may be further than the record says. */
function refuseOnRow(
  { owned }: StoredTransaction,
  stored: Transaction,
  command: Command,
  now: number,
): CommandRefusal | undefined {
  const refusal = findRefusal(stored, command, now)
  const isOpen = refusal === undefined || refusal === 'op-not-due' || refusal === 'confirmation-required'
  const isNew = isGiven(command) && findEntry(stored, command.given.id) === undefined
  return owned && needsRest(command) && isOpen && isNew ? 'op-busy' : refusal
}

/**
 * Chooses the hold of a command. A registered branch and a signal that no wait takes leave the due instant as it is; every other
 * command makes the row due now.
 */
function commandHold(
  { dueAt }: StoredTransaction,
  command: Command,
  next: Transaction,
  storeNow: number,
): UpdateHold {
  // A claim would only give it back. A deadline that passes meanwhile is decided at the end of the pause.
  if (isPaused(next, storeNow)) return { type: 'command', dueAt: next.paused?.until ?? PARKED_AT }
  // A report is a sign of life, so its client is called back that much later.
  if (command.type === 'record-asked' && next.kind === 'recorded')
    return { type: 'command', dueAt: callbackAt(next) }
  const changesNothingNow =
    command.type === 'register-asked' ||
    (command.type === 'signal-asked' && !mayBeTakenNow(next, command.signal))
  return changesNothingNow ? { type: 'command', dueAt } : { type: 'command' }
}

/** A workflow's owner may have opened the wait for which the row keeps the signal, so it has to learn of it soon. */
function mayBeTakenNow(transaction: Transaction, { id, name }: Signal): boolean {
  if (!hasSteps(transaction)) return false
  const wasTaken = transaction.signals?.find((signal) => signal.id === id)?.takenBy !== undefined
  return wasTaken || (transaction.kind === 'workflow' && listAwaiting(toSaga(transaction), name).length > 0)
}
