/** One entry for every kind of transaction: what an event makes of it, what it then wants, how durable that must be. */
import { assert } from './errors.ts'
import type { TransactionEffect, TransactionEvent, Transition } from './events.ts'
import { foldSaga } from './saga.ts'
import { sagaEffects } from './saga-effects.ts'
import { isFinal, type Transaction } from './transaction.ts'

/** The rules of all kinds. A test may hand the runner mutated ones. */
export interface Rules {
  fold(
    transaction: Transaction,
    event: TransactionEvent,
    now: number,
  ): Omit<Transition<Transaction>, 'effects'>
  effects(transaction: Transaction, now: number): readonly TransactionEffect[]
}

export const RULES: Rules = {
  fold(transaction, event, now) {
    switch (transaction.kind) {
      case 'saga':
        return foldSaga(transaction, event, now)
    }
  },
  effects(transaction, now) {
    switch (transaction.kind) {
      case 'saga':
        return sagaEffects(transaction, now)
    }
  },
}

/**
 * `now` is by the store's clock. The effects are derived from the state that the event led to.
 * Throws AssertionError when the state is one that the rules exclude.
 */
export function transition(
  transaction: Transaction,
  event: TransactionEvent,
  now: number,
): Transition<Transaction> {
  assertValid(transaction)
  const { next, durability } = RULES.fold(transaction, event, now)
  assertValid(next)
  return { next, durability, effects: RULES.effects(next, now) }
}

export function assertValid(transaction: Transaction): void {
  const { branches, definition, status } = transaction
  assert(branches.length === definition.branches.length, 'a branch has no progress')
  const forward = status === 'submitted' || status === 'succeeded'
  for (const progress of branches) {
    assert(!forward || progress.compensate.attempts === 0, 'compensated without an abort decision')
  }
  if (status === 'succeeded') {
    assert(
      branches.every((progress) => progress.action.state === 'succeeded'),
      'succeeded with a branch that has not',
    )
  }
  if (status === 'failed') {
    assert(
      !branches.some((progress) => progress.action.state === 'calling'),
      'failed with an action in flight',
    )
  }
  assert(
    !isFinal(transaction) || transaction.attention === undefined,
    'a final transaction needs no attention',
  )
}
