/**
 * Decides when to save, and whether the save keeps, releases or finishes the row. At most one save of a transaction is in
 * flight, and later changes go into the next. A strong change is saved at once. A lazy change is saved with the next
 * strong one, or when it has been unsaved for checkpointMs. A transaction that only waits is released with the same
 * write when its wait is longer than holdMs or when it has waited often. A large one comes back from its wait in its turn.
 */

import { type LargeRow, takeLargeRowTurn } from '../bulkhead/large-row-pace.ts'
import { PARKED_AT, type TransactionUpdate, type UpdateHold } from '../ports/store.ts'
import { describeTrouble } from '../record/describe-trouble.ts'
import { encodeProgress, toFormat } from '../record/record.ts'
import { SLOW_AFTER_WAITS } from '../rules/backoff.ts'
import type { CallKey } from '../rules/events.ts'
import { PARKED_OP_AT, someOp, withoutUnanswered } from '../rules/op-progress.ts'
import { isFinal, type Transaction } from '../transaction.ts'
import { hasCallInFlight, type Run, type SaveInFlight } from './run.ts'
import type { RunEffect } from './run-events.ts'

/** A wait of this length makes no room for others that is worth a save and a claim. */
const SHORT_WAIT_MS = 100

/** The room that the node has for a run that only waits. */
export interface RunRoom {
  /** Claimed transactions take so much of the node that one which only waits gives its places back at once. */
  readonly isShort: boolean
  /** Present where the row is large: how many places it takes, and when the next such row may come back from a wait. */
  readonly largeRow?: Pick<LargeRow, 'nextAt' | 'places'>
}

const AMPLE_ROOM: RunRoom = { isShort: false }

export interface SavePlan {
  readonly run: Run
  readonly effect?: SaveEffect
  /** When the run must be stepped again, by the node's clock, if no other event comes first. */
  readonly wakeAt?: number
}

interface SaveStart extends SavePlan {
  readonly effect: SaveEffect
}

type SaveEffect = Extract<RunEffect, { readonly type: 'save' }>

/** The next needs of the transaction: calls to make now, and a step at `wakeAt`, by the node's clock. */
export interface Needs {
  readonly calls: readonly CallKey[]
  readonly wakeAt?: number
}

export function planSave(run: Run, needs: Needs, now: number, room: RunRoom = AMPLE_ROOM): SavePlan {
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
  const waitsLong = onlyWaits && (wakeAt - now > run.settings.holdMs || keepsWaiting(run, wakeAt, now, room))
  if (waitsLong || (onlyWaits && hasWaitedOften(run.transaction))) {
    if (!isParked(run, wakeAt)) return releaseUntil(run, wakeAt, now, room)
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

/** Gives the row back for a wait. */
function releaseUntil(run: Run, wakeAt: number, now: number, { largeRow }: RunRoom): SavePlan {
  const turn =
    largeRow !== undefined && hasOpenWait(run.transaction)
      ? takeLargeRowTurn({ ...largeRow, now })
      : undefined
  if (turn === undefined) return release(run, storeInstant(run, wakeAt))
  const { run: next, effect } = release(run, storeInstant(run, Math.max(wakeAt, turn.at)))
  return { run: next, effect: { ...effect, nextLargeRowAt: turn.nextAt } }
}

function release(run: Run, dueAt: number): SaveStart {
  return startSave(run, 'release', dueAt)
}

function startSave(run: Run, hold: SaveInFlight['hold'], dueAt?: number): SaveStart {
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
 * transactions do nothing but wait. Where room is short, one wait is enough.
 */
function keepsWaiting(
  { transaction, startedAt, settings }: Run,
  wakeAt: number,
  now: number,
  { isShort }: RunRoom,
): boolean {
  const takesRoom = isShort && wakeAt - now > SHORT_WAIT_MS
  return (takesRoom || wakeAt - startedAt > settings.holdMs) && hasOpenWait(transaction)
}

function hasOpenWait(transaction: Transaction): boolean {
  return someOp(transaction, ({ state }) => state === 'open')
}

export function isRetrying(transaction: Transaction): boolean {
  if (isFinal(transaction)) return false
  return someOp(transaction, ({ state }) => state === 'waiting')
}
