/** Wrong rules for the values that branches use of each other's answers. */
import { RULES, type Rules, type SagaTransaction, type Transaction } from '@counterstep/core'
import { countValues } from '../world/count-strong.ts'
import { hasTurnedAround } from './turned-around.ts'

/** A success with values is saved at some later time, while its users are called already. */
export const valuesLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const isForward = folded.next.status === 'submitted' && transaction.status === 'submitted'
    return isForward && hasNewValues(transaction, folded.next) ? { ...folded, durability: 'lazy' } : folded
  },
}

/** An action's answer after the abort decision is saved at some later time, while its compensation is called. */
export const ownAnswerLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const isBackward = transaction.status === 'aborting' && folded.next.status === 'aborting'
    return isBackward && hasNewValues(transaction, folded.next) ? { ...folded, durability: 'lazy' } : folded
  },
}

/** The abort decision is saved without the values that were known by then. */
export const abortForgetsValues: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (!hasTurnedAround(transaction, next)) return folded
    return { ...folded, next: { ...next, branches: withoutValues(next).branches } }
  },
}

/** A saga whose next request cannot be built waits for ever, and asks for no person. */
export const unusableWaits: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (!hasTurnedAround(transaction, next)) return folded
    if (next.abort.cause !== 'value-unusable') return folded
    const { abort: _, ...rest } = next
    return { next: { ...rest, status: 'submitted' }, durability: 'strong' }
  },
}

/** A compensation that cannot be sent waits for an operator, but is not marked for one. */
export const unusableUnmarked: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (next.attention?.includes('cannot be sent') !== true) return folded
    const { attention: _, ...rest } = next
    return { ...folded, next: rest }
  },
}

function hasNewValues(before: Transaction, after: Transaction): boolean {
  return countValues(after) > countValues(before)
}

/** Puts other values in the place of the recorded ones. */
export function withValues(
  saga: SagaTransaction,
  findValue: (branch: number) => string | undefined,
): SagaTransaction {
  const branches = saga.branches.map(({ action, compensate }, branch) => {
    const { values } = action
    if (values === undefined) return { action, compensate }
    return {
      action: {
        ...action,
        values: values.map((value) => (value === null ? null : (findValue(branch) ?? value))),
      },
      compensate,
    }
  })
  return { ...saga, branches }
}

/** Forgets all values, as if no action had succeeded. */
export function withoutValues(saga: SagaTransaction): SagaTransaction {
  const branches = saga.branches.map(({ action, compensate }) => {
    const { values: _, ...rest } = action
    return { action: rest, compensate }
  })
  return { ...saga, branches }
}
