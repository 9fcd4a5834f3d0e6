/**
 * One transaction in the hands of one node: the lease, the save in flight, what waits on it.
 * `now` is the node's own monotonic clock; `storeOffsetMs` turns it into the store's.
 *
 * Every change has a number. `durable` is the last one that a save has made durable; `gate` is the last strong
 * one. While durable < gate no call starts and no end is told: what a crash on the next line would take back has
 * not been acted on.
 */

import type { SentList, StoredTransaction } from '../ports/store.ts'
import { someOp } from '../rules/op-progress.ts'
import type { Transaction } from '../transaction.ts'

export interface RunSettings {
  readonly leaseMs: number
  /** Longer waits are given back to the store. */
  readonly holdMs: number
  readonly retentionMs: number | 'never'
  /** On a class A store a clean release keeps the list of sent actions. */
  readonly releaseKeepsSentList: boolean
}

export interface Run {
  readonly transaction: Transaction
  readonly settings: RunSettings
  readonly token: string
  /** The row's version, as far as this node knows. */
  readonly version: number
  /** After it no new call starts. Counted from when the last granted create, claim or renew was sent. */
  readonly leaseUntil: number
  readonly storeOffsetMs: number
  readonly changed: number
  readonly durable: number
  readonly gate: number
  /** As the row has it: by its last save, or as it was read. Its status is what GET may show. */
  readonly durableTransaction: Transaction
  /** When the oldest unsaved change came, for the checkpoint. */
  readonly dirtySince: number | undefined
  readonly save: SaveInFlight | undefined
  /** The row has changed under us: it is being read again. */
  readonly rereading: boolean
  /** Held since accept, or since a clean release, without a break. */
  readonly sentListKnown: boolean
  readonly draining: 'no' | 'when-calls-end' | 'now'
  readonly ended: boolean
}

export interface SaveInFlight {
  /** What it makes durable. */
  readonly changed: number
  readonly transaction: Transaction
  readonly hold: 'keep' | 'release' | 'finish'
  /** Of a release: when someone must look again. */
  readonly dueAt?: number
}

export interface Grant {
  /** When the request was sent, by the node's clock. */
  readonly sentAt: number
  /** Now, by the node's clock. */
  readonly now: number
  /** Now, by the store's clock, as of before the answer arrived. */
  readonly storeNow: number
}

/** A run whose accept has become durable: change 1. */
export function acceptedRun(
  transaction: Transaction,
  token: string,
  settings: RunSettings,
  grant: Grant,
): Run {
  return newRun(transaction, { token, version: 1, sentListKnown: true, settings }, grant)
}

/** A run that was taken over from the store. */
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
    // Elapsed since the answer, not since the request: never later than the store's true now, so no deadline is early.
    storeOffsetMs: grant.storeNow - grant.now,
    changed: 1,
    durable: 1,
    gate: 1,
    durableTransaction: transaction,
    dirtySince: undefined,
    save: undefined,
    rereading: false,
    draining: 'no',
    ended: false,
  }
}

export function hasCallInFlight({ transaction }: Run): boolean {
  return someOp(transaction, ({ state }) => state === 'calling')
}

/**
 * Whether what this node has in memory may be shown. Not after the lease, nor while a save is in flight that ends
 * the run here or changes the status: the row may be further by then, and somebody may have seen it.
 */
export function mayShow(run: Run, now: number): boolean {
  if (run.ended || run.rereading || now >= run.leaseUntil) return false
  const { save, durableTransaction } = run
  if (save === undefined) return true
  return save.hold === 'keep' && save.transaction.status === durableTransaction.status
}
