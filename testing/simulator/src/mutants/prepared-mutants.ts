/** Wrong rules for TCCs and messages. */
import {
  CHECK,
  chooseOp,
  decodeTransaction,
  encodeProgress,
  findOp,
  isFinal,
  isTwoPhase,
  RULES,
  type Rules,
  type StoredTransaction,
  type Transaction,
  type TransactionEffect,
  type TwoPhaseTransaction,
} from '@counterstep/core'

/** A call of the decision that fails is given up, like an action. */
function giveUpAfterFailure(kind: TwoPhaseTransaction['kind']): Rules {
  return {
    ...RULES,
    fold(transaction, event, now) {
      const hasFailed =
        isTwoPhase(transaction) &&
        transaction.kind === kind &&
        transaction.status === 'submitted' &&
        event.type === 'answered' &&
        event.answer.result === 'failure'
      if (!hasFailed) return RULES.fold(transaction, event, now)
      const abort = { cause: 'branch-failed', at: now, branches: [...transaction.branches.keys()] } as const
      const next = { ...transaction, status: 'aborting', abort, updatedAt: now } as const
      return { next, durability: 'strong' }
    },
  }
}

export const cancelAfterFailure = giveUpAfterFailure('tcc')
/** Others are rolled back after one has been committed. */
export const xaGivenUp = giveUpAfterFailure('xa')

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

/** The branches of the kind are called in the other order. */
function callBackwards(kind: TwoPhaseTransaction['kind']): Rules {
  return {
    ...RULES,
    effects(transaction, now) {
      if (!isTwoPhase(transaction) || transaction.kind !== kind || transaction.status === 'prepared')
        return RULES.effects(transaction, now)
      return isFinal(transaction) ? [] : listBackwards(transaction, now)
    },
  }
}

export const oldestFirst = callBackwards('tcc')
export const xaNewestFirst = callBackwards('xa')

function listBackwards(transaction: TwoPhaseTransaction, now: number): readonly TransactionEffect[] {
  const op = chooseOp(transaction)
  const isOpen = (branch: number) => findOp(transaction, { branch, op })?.state !== 'succeeded'
  const positions = [...transaction.branches.keys()]
  const branch = transaction.kind === 'xa' ? positions.findLast(isOpen) : positions.find(isOpen)
  const progress = branch === undefined ? undefined : findOp(transaction, { branch, op })
  if (branch === undefined || progress === undefined || progress.state === 'calling') return []
  const { nextAt = 0 } = progress
  return nextAt > now ? [{ type: 'wake-at', at: nextAt }] : [{ type: 'call', call: { branch, op } }]
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
