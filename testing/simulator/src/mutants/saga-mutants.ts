/** Wrong rules for sagas. */
import {
  type CalledOp,
  findOp,
  type OpProgress,
  RULES,
  type Rules,
  type SagaTransaction,
  type Transaction,
  type TransactionEffect,
  type TransactionEvent,
} from '@counterstep/core'
import { hasTurnedAround } from './turned-around.ts'

/** Only recorded actions are undone, even if other nodes may have sent more. */
export const recordedOnly: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const sure = transaction.sentUnknown ? { ...transaction, sentUnknown: false } : transaction
    const asked = event.type === 'claimed' ? { ...event, sentUnknown: false } : event
    const folded = RULES.fold(sure, asked, now)
    return folded.next === sure ? { ...folded, next: transaction } : folded
  },
}

/** A branch without a successful answer is treated as not done. */
export const succeededOnly: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (!hasTurnedAround(transaction, next)) return folded
    const branches = next.abort.branches.filter(
      (branch) => next.branches[branch]?.action.state === 'succeeded',
    )
    return { ...folded, next: { ...next, abort: { ...next.abort, branches } } }
  },
}

export const abortLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const turned = transaction.status === 'submitted' && folded.next.status === 'aborting'
    return turned ? { ...folded, durability: 'lazy' } : folded
  },
}

/** Strict mode is ignored: results are saved at some later time. */
export const strictLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const isResult = event.type === 'answered' && event.answer.result === 'success'
    return isResult && folded.next.status === transaction.status ? { ...folded, durability: 'lazy' } : folded
  },
}

export const unknownIsFailure: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    if (event.type !== 'answered' || event.call.op !== 'action' || event.answer.result !== 'unknown')
      return RULES.fold(transaction, event, now)
    return RULES.fold(transaction, { ...event, answer: { ...event.answer, result: 'failure' } }, now)
  },
}

/** All actions are called at once, whatever their order. */
export const orderIgnored: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'saga' || transaction.status !== 'submitted')
      return RULES.effects(transaction, now)
    const branches = transaction.definition.branches.map((branch) => ({ ...branch, after: [] }))
    return RULES.effects({ ...transaction, definition: { ...transaction.definition, branches } }, now)
  },
}

export const compensateForward: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'saga' || transaction.status !== 'aborting')
      return RULES.effects(transaction, now)
    return forwardCompensations(transaction, transaction.abort.branches, now)
  },
}

function forwardCompensations(
  saga: SagaTransaction,
  undo: readonly number[],
  now: number,
): TransactionEffect[] {
  for (const branch of undo) {
    const progress = saga.branches[branch]
    if (progress === undefined || saga.definition.branches[branch]?.compensation === undefined) continue
    if (progress.compensate.state === 'succeeded') continue
    if (progress.compensate.state === 'calling' || progress.action.state === 'calling') return []
    const { nextAt = 0 } = progress.compensate
    return nextAt > now
      ? [{ type: 'wake-at', at: nextAt }]
      : [{ type: 'call', call: { branch, op: 'compensate' } }]
  }
  return []
}

/** The last success is made durable first, and the deadline is checked after it. */
export const deadlineBeatsSuccess: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (event.type !== 'answered' || next.kind !== 'saga' || next.status !== 'succeeded') return folded
    if (next.definition.deadlineMs === undefined) return folded
    const { finishedAt: _, ...done } = next
    return { next: { ...done, status: 'submitted' }, durability: 'strong' }
  },
  // It asks to be woken soon, so that the time is checked again.
  effects(transaction, now) {
    const isDone =
      transaction.status === 'submitted' &&
      transaction.kind === 'saga' &&
      transaction.branches.every(({ action }) => action.state === 'succeeded')
    return isDone ? [{ type: 'wake-at', at: now + 40 }] : RULES.effects(transaction, now)
  },
}

const EARLY_MS = 150

/** Deadlines are checked by a clock that is fast. */
export const deadlineEarly: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    return RULES.fold(transaction, event, event.type === 'time' ? now + EARLY_MS : now)
  },
}

export const backoffNone: Rules = { ...RULES, fold: (...given) => foldPaced(given, (_, now) => now) }

/** A call that found no place is treated as if it were under way. */
export const heldBackForgotten: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    if (event.type === 'held-back') return { next: transaction, durability: 'none' }
    return RULES.fold(transaction, event, now)
  },
}

const SLOWER = 64

export const backoffUncapped: Rules = {
  ...RULES,
  fold: (...given) => foldPaced(given, ({ nextAt = 0, waits }, now) => now + SLOWER * waits * (nextAt - now)),
}

/** Folds by the right rules, with another instant for the next call. */
function foldPaced(
  [transaction, event, now]: [Transaction, TransactionEvent, number],
  nextAt: (progress: OpProgress, now: number) => number,
) {
  const folded = RULES.fold(transaction, event, now)
  if (event.type !== 'answered') return folded
  const progress = findOp(folded.next, event.call)
  if (progress?.state !== 'waiting') return folded
  return { ...folded, next: withNextAt(folded.next, event, nextAt(progress, now)) }
}

function withNextAt<T extends Transaction>(
  transaction: T,
  { call: { branch, op } }: Extract<TransactionEvent, { readonly type: 'answered' }>,
  nextAt: number,
): T {
  const branches = transaction.branches.map((progress, position) => {
    const standing = (progress as Partial<Record<CalledOp, OpProgress>>)[op]
    return position === branch ? { ...progress, [op]: { ...standing, nextAt } } : progress
  })
  return { ...transaction, branches } as T
}
