/**
 * A run is one transaction that one node owns: its state, its lease and the save in flight.
 * `now` is the node's own monotonic clock; `storeOffsetMs` turns it into the store's.
 *
 * Every change has a number. `lastSavedChange` is the last one that is durable, and `lastStrongChange` the last strong
 * one. While lastSavedChange < lastStrongChange, no call starts and no end is told, so that nothing is ever based on a
 * change that a crash could still take back.
 */

import type { SentList, StoredTransaction } from '../ports/store.ts'
import { someOp } from '../rules/op-progress.ts'
import type { Transaction } from '../transaction.ts'

export interface RunSettings {
  readonly leaseMs: number
  /** A transaction that waits longer than this is given back to the store. */
  readonly holdMs: number
  readonly retentionMs: number | 'never'
  /** A clean release keeps the list of sent actions. This is safe on a store of class A only. */
  readonly releaseKeepsSentList: boolean
}

export interface Run {
  readonly transaction: Transaction
  readonly settings: RunSettings
  readonly token: string
  /** The version of the row, as far as this node knows. */
  readonly version: number
  /**
   * No new call starts after this instant. It is counted from when the last granted create, claim or renew was sent.
   */
  readonly leaseUntil: number
  /** When it was accepted or claimed here, by the node's clock. */
  readonly startedAt: number
  readonly storeOffsetMs: number
  readonly lastChange: number
  readonly lastSavedChange: number
  readonly lastStrongChange: number
  /** The transaction as the row has it, since the last save or the last read. GET may show its status. */
  readonly durableTransaction: Transaction
  /** When the oldest unsaved change came. The next checkpoint is counted from it. */
  readonly dirtySince: number | undefined
  readonly save: SaveInFlight | undefined
  /** Another node has changed the row, and it is being read again. */
  readonly rereading: boolean
  /**
   * Whether the list of sent actions is complete: the row had an owner or
   * was cleanly released at all times since the accept.
   */
  readonly sentListKnown: boolean
  readonly draining: 'no' | 'when-calls-end' | 'now'
  readonly ended: boolean
}

export interface SaveInFlight {
  /** The last change that the save makes durable. */
  readonly lastChange: number
  readonly transaction: Transaction
  readonly hold: 'keep' | 'release' | 'finish'
  /** When a released row is due again. */
  readonly dueAt?: number
}

export interface Grant {
  /** When the request was sent, by the node's clock. */
  readonly sentAt: number
  /** Now, by the node's clock. */
  readonly now: number
  /** The store's clock, as the store read it before it answered. */
  readonly storeNow: number
}

/** Starts the run of a transaction whose accept is durable. The accept is change 1. */
export function acceptedRun(
  transaction: Transaction,
  token: string,
  settings: RunSettings,
  grant: Grant,
): Run {
  return newRun(transaction, { token, version: 1, sentListKnown: true, settings }, grant)
}

/** Starts the run of a row that was claimed from the store. */
export function claimedRun(
  transaction: Transaction,
  row: StoredTransaction,
  settings: RunSettings,
  grant: Grant,
): Run {
  const sentListKnown = row.sentList === ('held' satisfies SentList)
  return newRun(transaction, { token: row.token, version: row.version, sentListKnown, settings }, grant)
}

type Holding = Pick<Run, 'token' | 'version' | 'sentListKnown' | 'settings'>

function newRun(transaction: Transaction, holding: Holding, grant: Grant): Run {
  return {
    ...holding,
    transaction,
    leaseUntil: grant.sentAt + holding.settings.leaseMs,
    startedAt: grant.now,
    // The offset counts from the answer, so the assumed store time is never
    // later than the true one, and no deadline is early.
    storeOffsetMs: grant.storeNow - grant.now,
    lastChange: 1,
    lastSavedChange: 1,
    lastStrongChange: 1,
    durableTransaction: transaction,
    dirtySince: undefined,
    save: undefined,
    rereading: false,
    draining: 'no',
    ended: false,
  }
}

/** Returns the time of the store's clock, never later than it is, from that of the node's. */
export function readStoreNow({ storeOffsetMs }: Run, now: number): number {
  return Math.floor(now + storeOffsetMs)
}

export function hasCallInFlight({ transaction }: Run): boolean {
  return someOp(transaction, ({ state }) => state === 'calling')
}

/**
 * Whether the state in this node's memory may be shown. It may not be shown after the lease, nor while a save is in flight
 * that ends the run here or changes the status: the row may be newer by then, and a caller may have seen it.
 */
export function mayShow(run: Run, now: number): boolean {
  if (run.ended || run.rereading || now >= run.leaseUntil) return false
  const { save, durableTransaction } = run
  if (save === undefined) return true
  return save.hold === 'keep' && save.transaction.status === durableTransaction.status
}
