/**
 * Decides when to save, and whether the save keeps, releases or finishes the row. At most one save of a transaction is in
 * flight, and later changes go into the next. A strong change is saved at once. A lazy change is saved with the next
 * strong one, or when it has been unsaved for checkpointMs. A transaction that only waits is released with the same
 * write when its wait is longer than holdMs or when it has waited often.
 */

import { PARKED_AT, type TransactionUpdate, type UpdateHold } from '../ports/store.ts'
import { describeTrouble } from '../record/describe-trouble.ts'
import { encodeProgress, toFormat } from '../record/record.ts'
import { SLOW_AFTER_WAITS } from '../rules/backoff.ts'
import type { CallKey } from '../rules/events.ts'
import { PARKED_OP_AT, someOp, withoutUnanswered } from '../rules/op-progress.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import { hasCallInFlight, type Run, type SaveInFlight } from './run.ts'
import type { RunEffect } from './run-events.ts'

export interface SavePlan {
  readonly run: Run
  readonly effect?: RunEffect
  /** When the run must be stepped again, by the node's clock, if no other event comes first. */
  readonly wakeAt?: number
}

/** The next needs of the transaction: calls to make now, and a step at `wakeAt`, by the node's clock. */
export interface Needs {
  readonly calls: readonly CallKey[]
  readonly wakeAt?: number
}

export function planSave(run: Run, needs: Needs, now: number): SavePlan {
  if (run.save !== undefined) return { run }
  if (isFinal(run.transaction)) {
    return run.lastChange > run.lastSavedChange ? startSave(run, 'finish') : { run }
  }
  const isCalling = hasCallInFlight(run)
  if (run.draining === 'now' || (run.draining === 'when-calls-end' && !isCalling)) {
    return release(run, storeInstant(run, now))
  }
  const { wakeAt } = needs
  // A wake-up at once is no wait: something follows as soon as this change is durable.
  const onlyWaits = !isCalling && needs.calls.length === 0 && wakeAt !== undefined && wakeAt > now
  const waitsLong = onlyWaits && (wakeAt - now > run.settings.holdMs || keepsWaiting(run, wakeAt))
  if (waitsLong || (onlyWaits && hasWaitedOften(run.transaction))) {
    if (!isParked(run, wakeAt)) return release(run, storeInstant(run, wakeAt))
    // A pause parks the row without a mark, because an operator asked for that.
    // Otherwise it may not be marked yet, because nothing is decided on top of an unsaved decision. It is marked after a save, since
    // a row that is parked without a mark would wait for ever.
    if ((run.transaction.paused ?? run.transaction.attention) !== undefined) return release(run, PARKED_AT)
  }
  if (run.lastSavedChange < run.lastStrongChange) return startSave(run, 'keep')
  if (run.dirtySince === undefined) return { run }
  const checkpointAt = run.dirtySince + run.transaction.definition.checkpointMs
  return now >= checkpointAt ? startSave(run, 'keep') : { run, wakeAt: checkpointAt }
}

/**
 * Whether the transaction waits for an operator. The comparison is lenient, because a number as large as PARKED_OP_AT
 * loses fractions of a millisecond when it is converted between clocks.
 */
function isParked(run: Run, wakeAt: number): boolean {
  return storeInstant(run, wakeAt) >= PARKED_OP_AT - 1_000
}

function storeInstant(run: Run, at: number): number {
  return Math.ceil(at + run.storeOffsetMs)
}

function release(run: Run, dueAt: number): SavePlan {
  return startSave(run, 'release', dueAt)
}

function startSave(run: Run, hold: SaveInFlight['hold'], dueAt?: number): SavePlan {
  // The count is reset in the saved copy alone: if the save is refused, the row was not given back.
  const transaction = hold === 'release' ? withoutUnanswered(run.transaction) : run.transaction
  const save: SaveInFlight = {
    lastChange: run.lastChange,
    transaction,
    hold,
    ...(dueAt === undefined ? {} : { dueAt }),
  }
  const keepsList = hold === 'release' && run.sentListKnown && run.settings.releaseKeepsSentList
  const update: Omit<TransactionUpdate, 'writeId'> = {
    gid: transaction.gid,
    token: run.token,
    version: run.version,
    status: transaction.status,
    format: toFormat(transaction),
    progress: encodeProgress(transaction),
    retrying: isRetrying(transaction),
    attention: transaction.attention !== undefined,
    ...describeTrouble(transaction),
    ...(keepsList ? { sentList: 'released' } : {}),
    hold: updateHold(run, hold, dueAt),
  }
  // Changes from here on belong to the next save.
  return { run: { ...run, dirtySince: undefined, save }, effect: { type: 'save', update } }
}

function updateHold(run: Run, hold: SaveInFlight['hold'], dueAt = 0): UpdateHold {
  switch (hold) {
    case 'keep':
      return { type: 'keep' }
    case 'release':
      return { type: 'release', dueAt }
    case 'finish':
      return { type: 'finish', retentionMs: run.settings.retentionMs }
  }
}

/**
 * Whether the transaction has waited often, so that it probably will wait again. A node that kept many such
 * transactions in memory would have no room for new ones.
 */
function hasWaitedOften(transaction: Transaction): boolean {
  return someOp(transaction, ({ state, waits }) => state === 'waiting' && waits >= SLOW_AFTER_WAITS)
}

/**
 * Whether waits that are short each keep the transaction here for longer than one of them may. No target bounds how many
 * transactions do nothing but wait.
 */
function keepsWaiting({ transaction, startedAt, settings }: Run, wakeAt: number): boolean {
  return wakeAt - startedAt > settings.holdMs && someOp(transaction, ({ state }) => state === 'open')
}

export function isRetrying(transaction: Transaction): boolean {
  if (isFinal(transaction)) return false
  return someOp(transaction, ({ state }) => state === 'waiting')
}
