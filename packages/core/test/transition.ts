import type { TransactionEffect, TransactionEvent } from '../src/rules/events.ts'
import { assertValid, type FoldedTransaction, RULES } from '../src/rules/rules.ts'
import type { Transaction } from '../src/transaction.ts'

export interface Transition extends FoldedTransaction {
  /** Of the state that the event led to. */
  readonly effects: readonly TransactionEffect[]
}

/** What an event makes of a transaction that nobody runs, and what it then wants. */
export function transition(transaction: Transaction, event: TransactionEvent, now: number): Transition {
  assertValid(transaction)
  const folded = RULES.fold(transaction, event, now)
  assertValid(folded.next)
  return { ...folded, effects: RULES.effects(folded.next, now) }
}
