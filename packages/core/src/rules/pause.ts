/**
 * A pause is no status. While it lasts, no call starts, and nothing is decided that only follows from the time. Calls in
 * flight end and count, and what their answers decide counts too, but the calls that follow from it wait.
 */
import type { Transaction } from '../transaction.ts'
import type { TransactionEffect } from './events.ts'
import { PARKED_OP_AT } from './op-progress.ts'

/** A pause ends by itself at its `until`, on every node, without a save: the instant stands in the record. */
export function isPaused({ paused }: Transaction, now: number): boolean {
  return paused !== undefined && (paused.until === undefined || now < paused.until)
}

export function withoutPause<T extends Transaction>(transaction: T): T {
  if (transaction.paused === undefined) return transaction
  const { paused: _, ...rest } = transaction
  return rest as T
}

/** A paused transaction needs one thing only: a look at the instant at which the pause ends. */
export function pausedEffects({ paused }: Transaction): readonly TransactionEffect[] {
  return [{ type: 'wake-at', at: paused?.until ?? PARKED_OP_AT }]
}
