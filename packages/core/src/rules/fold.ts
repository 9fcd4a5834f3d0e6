import type { Transaction } from '../transaction.ts'
import type { Durability, TransactionEffect, TransactionEvent } from './events.ts'

export interface FoldedTransaction {
  readonly next: Transaction
  readonly durability: Durability
}

/** Folds an event into a transaction. `now` is by the store's clock. */
export type Fold = (transaction: Transaction, event: TransactionEvent, now: number) => FoldedTransaction

/** The rules of all kinds. `now` is by the store's clock. A test may give the runner mutated rules. */
export interface Rules {
  readonly fold: Fold
  effects(transaction: Transaction, now: number): readonly TransactionEffect[]
}
