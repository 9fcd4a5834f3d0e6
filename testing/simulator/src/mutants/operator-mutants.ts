/** Wrong rules for the commands of operators. */
import {
  decodeTransaction,
  encodeProgress,
  findNamedOp,
  RULES,
  type Rules,
  type SagaTransaction,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Flaw } from './wiring.ts'

/** The retry of an action is taken for its success. */
export const retryIsSuccess: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (event.type !== 'retry-op-asked' || next.kind !== 'saga' || next === transaction) return folded
    const found = findNamedOp(next, event)
    if (found === undefined || found.call.op !== 'action' || next.status !== 'submitted') return folded
    const branches = next.branches.map((progress, branch) =>
      branch === found.call.branch
        ? { ...progress, action: { ...progress.action, state: 'succeeded' as const } }
        : progress,
    )
    const spoilt: SagaTransaction = { ...next, branches }
    return { ...folded, next: spoilt }
  },
}

/** A pause is noted, and calls start all the same. */
export const pauseIgnored: Rules = {
  ...RULES,
  effects: (transaction, now) => RULES.effects(withoutPause(transaction), now),
}

function withoutPause<T extends Transaction>(transaction: T): T {
  const { paused: _, ...rest } = transaction
  return rest as T
}

/** Returns the row as a run would merge it that keeps its own trail alone. */
export function spoilTrail(
  row: StoredTransaction,
  { trail, paused, edits }: Transaction,
  flaw: Flaw | undefined,
): StoredTransaction {
  if (flaw !== 'trail-dropped-on-learn') return row
  const { trail: _, paused: __, edits: ___, ...rest } = decodeTransaction(row)
  const spoilt = {
    ...rest,
    ...(trail === undefined ? {} : { trail }),
    ...(paused === undefined ? {} : { paused }),
    ...(edits === undefined ? {} : { edits }),
  } as Transaction
  return { ...row, progress: encodeProgress(spoilt) }
}
