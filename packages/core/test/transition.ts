import type { TransactionEffect, TransactionEvent } from '../src/rules/events.ts'
import { assertValid, type FoldedTransaction, RULES } from '../src/rules/rules.ts'
import type { Transaction } from '../src/transaction.ts'

export interface Transition extends FoldedTransaction {
  /** The effects of the state that the event led to. */
  readonly effects: readonly TransactionEffect[]
}

/** Folds one event into a transaction outside a run, and returns the next state and its effects. */
export function transition(transaction: Transaction, event: TransactionEvent, now: number): Transition {
  assertValid(transaction)
  const folded = RULES.fold(transaction, event, now)
  assertValid(folded.next)
  return { ...folded, effects: RULES.effects(folded.next, now) }
}
