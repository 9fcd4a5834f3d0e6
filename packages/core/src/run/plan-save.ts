/**
 * When to save, and what the save does with the row. One save of a transaction is in flight; later changes merge
 * into the next. A strong change is saved at once; a lazy one with the next strong one, or when it has stayed
 * unsaved for checkpointMs. A transaction that only waits, longer than holdMs or not for the first times, is given back
 * with the same write.
 */

import { PARKED_AT, type TransactionUpdate, type UpdateHold } from '../ports/store.ts'
import { encodeProgress, formatOf } from '../record/record.ts'
import { HOT_FAILURES } from '../rules/backoff.ts'
import type { CallKey } from '../rules/events.ts'
import { PARKED_OP_AT, someOp, withoutUnanswered } from '../rules/op-progress.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import { hasCallInFlight, type Run, type SaveInFlight } from './run.ts'
import type { RunEffect } from './run-events.ts'

export interface SavePlan {
  readonly run: Run
  readonly effect?: RunEffect
  /** When to look again, by the node's clock, though nothing else happens. */
  readonly wakeAt?: number
}

/** What the transaction wants: calls now, and a look at `wakeAt`, by the node's clock. */
export interface Wishes {
  readonly calls: readonly CallKey[]
  readonly wakeAt?: number
}

export function planSave(run: Run, wishes: Wishes, now: number): SavePlan {
  if (run.save !== undefined) return { run }
  if (isFinal(run.transaction)) {
    return run.changed > run.durable ? startSave(run, 'finish') : { run }
  }
  const isCalling = hasCallInFlight(run)
  if (run.draining === 'now' || (run.draining === 'when-calls-end' && !isCalling)) {
    return release(run, storeInstant(run, now))
  }
  const { wakeAt } = wishes
  const onlyWaits = !isCalling && wishes.calls.length === 0 && wakeAt !== undefined
  if (onlyWaits && (wakeAt - now > run.settings.holdMs || isHot(run.transaction)))
    return release(run, isParked(run, wakeAt) ? PARKED_AT : storeInstant(run, wakeAt))
  if (run.durable < run.gate) return startSave(run, 'keep')
  if (run.dirtySince === undefined) return { run }
  const checkpointAt = run.dirtySince + run.transaction.definition.checkpointMs
  return now >= checkpointAt ? startSave(run, 'keep') : { run, wakeAt: checkpointAt }
}

/** What it waits for is an operator. The node's clock may be off by the parts of a millisecond that so large a number loses. */
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
  // If it is refused nobody gave it back.
  const transaction = hold === 'release' ? withoutUnanswered(run.transaction) : run.transaction
  const save: SaveInFlight = {
    changed: run.changed,
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
    format: formatOf(transaction.definition),
    progress: encodeProgress(transaction),
    retrying: isRetrying(transaction),
    attention: transaction.attention !== undefined,
    ...(keepsList ? { sentList: 'released' } : {}),
    hold: updateHold(run, hold, dueAt),
  }
  // What changes from here on is not in this save.
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

/** It has waited often, and will again: a node that held many such would have no room for what is new. */
function isHot(transaction: Transaction): boolean {
  return someOp(transaction, ({ state, waits }) => state === 'waiting' && waits >= HOT_FAILURES)
}

export function isRetrying(transaction: Transaction): boolean {
  if (isFinal(transaction)) return false
  return someOp(transaction, ({ state }) => state === 'waiting')
}
