/** Wrong rules for TCCs and messages. */
import {
  CHECK,
  decodeTransaction,
  encodeProgress,
  isFinal,
  RULES,
  type Rules,
  type StoredTransaction,
  type TccTransaction,
  type Transaction,
  type TransactionEffect,
} from '@counterstep/core'

/** A confirm that fails is given up, like an action. */
export const cancelAfterFailure: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isConfirmFailed =
      transaction.kind === 'tcc' &&
      transaction.status === 'submitted' &&
      event.type === 'answered' &&
      event.answer.result === 'failure'
    if (!isConfirmFailed) return RULES.fold(transaction, event, now)
    const abort = { cause: 'branch-failed', at: now, branches: [...transaction.branches.keys()] } as const
    const next = { ...transaction, status: 'aborting', abort, updatedAt: now } as const
    return { next, durability: 'strong' }
  },
}

/** The deadline ignores that the client has submitted. */
export const cancelAfterSubmit: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isLate =
      transaction.kind === 'tcc' &&
      transaction.status === 'submitted' &&
      event.type === 'time' &&
      now >= transaction.createdAt + transaction.definition.deadlineMs &&
      transaction.branches.every(({ confirm }) => confirm.attempts === 0)
    if (!isLate) return RULES.fold(transaction, event, now)
    return RULES.fold({ ...transaction, status: 'prepared' }, event, now)
  },
}

export const oldestFirst: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'tcc' || transaction.status === 'prepared')
      return RULES.effects(transaction, now)
    return oldest(transaction, now)
  },
}

function oldest(tcc: TccTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(tcc)) return []
  const op = tcc.status === 'submitted' ? 'confirm' : 'cancel'
  const branch = tcc.branches.findIndex((progress) => progress[op].state !== 'succeeded')
  const progress = tcc.branches[branch]?.[op]
  if (progress === undefined || progress.state === 'calling') return []
  const { nextAt = 0 } = progress
  return nextAt > now ? [{ type: 'wake-at', at: nextAt }] : [{ type: 'call', call: { branch, op } }]
}

/** XA begins with its newest branch, as a TCC does. */
export const xaNewestFirst: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'xa' || transaction.status === 'prepared' || isFinal(transaction))
      return RULES.effects(transaction, now)
    const op = transaction.status === 'submitted' ? 'commit' : 'rollback'
    const branch = transaction.branches.findLastIndex((progress) => progress[op].state !== 'succeeded')
    const progress = transaction.branches[branch]?.[op]
    if (progress === undefined || progress.state === 'calling') return []
    const { nextAt = 0 } = progress
    return nextAt > now ? [{ type: 'wake-at', at: nextAt }] : [{ type: 'call', call: { branch, op } }]
  },
}

/** A commit that fails is given up, so that others are rolled back after one has been committed. */
export const xaGivenUp: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isCommitFailed =
      transaction.kind === 'xa' &&
      transaction.status === 'submitted' &&
      event.type === 'answered' &&
      event.answer.result === 'failure'
    if (!isCommitFailed) return RULES.fold(transaction, event, now)
    const abort = { cause: 'branch-failed', at: now, branches: [...transaction.branches.keys()] } as const
    const next = { ...transaction, status: 'aborting', abort, updatedAt: now } as const
    return { next, durability: 'strong' }
  },
}

/** Branches are called at once, before the decision is durable. */
export const submitLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const isDecided = transaction.status === 'prepared' && folded.next.status !== 'prepared'
    return isDecided && !('finishedAt' in folded.next) ? { ...folded, durability: 'lazy' } : folded
  },
}

/** The decision forgets the branch that was registered last. */
export const dropRegistered: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (transaction.status !== 'prepared' || next.kind !== 'tcc' || next.status === 'prepared') return folded
    if (next.registered.length < 2) return folded
    const shorter = {
      ...next,
      registered: next.registered.slice(0, -1),
      branches: next.branches.slice(0, -1),
    }
    return { ...folded, next: shorter }
  },
}

/** An unknown query-back is treated as if the sender had not committed. */
export const unknownCheckIsFailure: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isUnknown =
      event.type === 'answered' && event.call.branch === CHECK && event.answer.result === 'unknown'
    if (!isUnknown) return RULES.fold(transaction, event, now)
    return RULES.fold(transaction, { ...event, answer: { ...event.answer, result: 'failure' } }, now)
  },
}

/** A sender that answers neither yes nor no is treated as if it had committed. */
export const ongoingCheckIsSuccess: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isOpen =
      event.type === 'answered' && event.call.branch === CHECK && event.answer.result === 'ongoing'
    if (!isOpen) return RULES.fold(transaction, event, now)
    return RULES.fold(transaction, { ...event, answer: { ...event.answer, result: 'success' } }, now)
  },
}

/** The message is submitted at the time at which its sender should be asked. */
export const deliverWhilePrepared: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isDue =
      transaction.kind === 'message' &&
      transaction.status === 'prepared' &&
      event.type === 'time' &&
      now >= transaction.createdAt + (transaction.definition.check?.afterMs ?? 0)
    return RULES.fold(transaction, isDue ? { type: 'submit-asked' } : event, now)
  },
}

/** The sender is asked as soon as a node runs the message. */
export const askAtOnce: Rules = {
  ...RULES,
  effects(transaction, now) {
    const isPrepared = transaction.kind === 'message' && transaction.status === 'prepared'
    if (!isPrepared || transaction.check.state !== 'idle') return RULES.effects(transaction, now)
    return [{ type: 'call', call: { branch: CHECK, op: 'msg' } }]
  },
}

/** All branches are called at once, even where the message asks for one after the other. */
export const alwaysConcurrent: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'message') return RULES.effects(transaction, now)
    return RULES.effects({ ...transaction, definition: { ...transaction.definition, concurrent: true } }, now)
  },
}

/** Returns the row without new branches, as a run would see it that keeps only the branches that it knows. */
export function withoutNewBranches(row: StoredTransaction, ours: Transaction): StoredTransaction {
  const stored = decodeTransaction(row)
  if (stored.kind !== 'tcc' || ours.kind !== 'tcc') return row
  const known = ours.registered.length
  const registered = stored.registered.slice(0, known)
  return {
    ...row,
    progress: encodeProgress({ ...stored, registered, branches: stored.branches.slice(0, known) }),
  }
}
