/**
 * The rules of TCC and of XA. Each branch is registered before it has an effect, so only registered branches may have
 * run. The transaction is prepared until the client submits or aborts, or until the deadline passes. Then every branch is
 * confirmed (XA: committed), or every branch is cancelled (rolled back): one after the other, and never given up. A TCC begins
 * with its newest branch, and XA, as in DTM, with its oldest.
 */
import type { BranchId } from '@counterstep/protocol'
import type { RegisteredBranch } from '../definition.ts'
import { assert } from '../errors.ts'
import {
  type AbortDecision,
  isFinal,
  type TccOp,
  type TwoPhaseTransaction,
  UNCONFIRMED,
  UNDECIDED,
  type XaOp,
} from '../transaction.ts'
import type { CallKey, Durability, TransactionEffect, TransactionEvent } from './events.ts'
import {
  type Answered,
  attentionReason,
  findOp,
  holdBackCalls,
  mapOps,
  markSent,
  recordAnswer,
  releaseOrphanedCall,
  retryNow,
  waitAgain,
  withOp,
  withoutAttention,
} from './op-progress.ts'

export interface FoldedTwoPhase {
  readonly next: TwoPhaseTransaction
  readonly durability: Durability
}

type Unfinished = Exclude<TwoPhaseTransaction, { readonly finishedAt: number }>
type Prepared = Extract<TwoPhaseTransaction, { readonly status: 'prepared' }>
type Deciding = Exclude<Unfinished, Prepared>

export function foldTwoPhase(
  transaction: TwoPhaseTransaction,
  event: TransactionEvent,
  now: number,
): FoldedTwoPhase {
  if (isFinal(transaction)) return ignoreEvent(transaction)
  switch (event.type) {
    case 'claimed': {
      const { epoch, sentUnknown } = event
      return afterTime({ ...mapOps(transaction, releaseOrphanedCall), epoch, sentUnknown }, 'none', now)
    }
    case 'sent':
      return { next: markSent(transaction, event.calls, now), durability: 'none' }
    case 'answered':
      return transaction.status === 'prepared'
        ? ignoreEvent(transaction)
        : applyAnswer(transaction, event, now)
    case 'held-back':
      return { next: holdBackCalls(transaction, event, now), durability: 'none' }
    case 'time':
      return afterTime(transaction, 'none', now)
    case 'register-asked':
      return register(transaction, event, now)
    case 'submit-asked':
      return transaction.status === 'prepared'
        ? finishIfAll({ ...transaction, status: 'submitted', updatedAt: now }, 'strong', now)
        : ignoreEvent(transaction)
    case 'abort-asked': {
      const { reason } = event
      if (transaction.status !== 'prepared') return ignoreEvent(transaction)
      return decideAbort(
        transaction,
        { cause: 'requested', ...(reason === undefined ? {} : { reason }) },
        now,
      )
    }
    case 'retry-asked':
      return { next: retryNow(transaction, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(transaction), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
    case 'signal-asked':
    case 'record-asked':
    case 'end-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return ignoreEvent(transaction)
  }
}

export function twoPhaseEffects(transaction: TwoPhaseTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(transaction)) return []
  if (transaction.status === 'prepared') return [{ type: 'wake-at', at: decisionDeadlineAt(transaction) }]
  const call = chooseCall(transaction)
  const progress = call && findOp(transaction, call)
  if (call === undefined || progress === undefined || progress.state === 'calling') return []
  if (progress.state === 'waiting' && progress.nextAt !== undefined && progress.nextAt > now) {
    return [{ type: 'wake-at', at: progress.nextAt }]
  }
  return [{ type: 'call', call }]
}

export function decisionDeadlineAt({ createdAt, definition }: TwoPhaseTransaction): number {
  return createdAt + definition.deadlineMs
}

export function hasBranch(transaction: TwoPhaseTransaction, id: BranchId): boolean {
  return transaction.registered.some((branch) => branch.id === id)
}

/**
 * Adds a branch. A client that lost the first answer registers it again, and the branch is added only once. `findRefusal`
 * has already compared the contents.
 */
function register(
  transaction: Unfinished,
  { branch }: Extract<TransactionEvent, { readonly type: 'register-asked' }>,
  now: number,
): FoldedTwoPhase {
  if (transaction.status !== 'prepared' || hasBranch(transaction, branch.id)) return ignoreEvent(transaction)
  return { next: { ...withBranch(transaction, branch), updatedAt: now }, durability: 'strong' }
}

function withBranch(transaction: Prepared, branch: RegisteredBranch): Prepared {
  if (transaction.kind === 'tcc') {
    assert('confirm' in branch, 'a branch of XA for a TCC')
    const registered = [...transaction.registered, branch]
    return { ...transaction, registered, branches: [...transaction.branches, UNCONFIRMED] }
  }
  assert('url' in branch, 'a branch of a TCC for XA')
  const registered = [...transaction.registered, branch]
  return { ...transaction, registered, branches: [...transaction.branches, UNDECIDED] }
}

function applyAnswer(transaction: Deciding, event: Answered, now: number): FoldedTwoPhase {
  const progress = recordAnswer(transaction, event, now)
  if (progress === undefined) return ignoreEvent(transaction)
  if (event.answer.result === 'success') {
    const next = { ...withOp(transaction, event.call, { ...progress, state: 'succeeded' }), updatedAt: now }
    return finishIfAll(next, transaction.definition.checkpointMs === 0 ? 'strong' : 'lazy', now)
  }
  const waiting = waitAgain(transaction, progress, event, now)
  const next = { ...withOp(transaction, event.call, waiting), updatedAt: now }
  const reason = attentionReason(transaction, waiting, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function finishIfAll(transaction: Deciding, otherwise: Durability, now: number): FoldedTwoPhase {
  const next = finishDecided(transaction, now)
  return next === transaction ? { next, durability: otherwise } : { next, durability: 'strong' }
}

/** Ends a transaction whose every branch has had its call. Returns the same transaction if one has not. */
export function finishDecided(transaction: Deciding, now: number): TwoPhaseTransaction {
  if (chooseCall(transaction) !== undefined) return transaction
  const done = withoutAttention(transaction)
  return done.status === 'submitted'
    ? { ...done, status: 'succeeded', finishedAt: now, updatedAt: now }
    : { ...done, status: 'failed', finishedAt: now, updatedAt: now }
}

/** Finds the next call of the decision. Undefined: all have succeeded. */
function chooseCall(transaction: Deciding): CallKey | undefined {
  const op = chooseOp(transaction)
  const isOpen = (branch: number) => findOp(transaction, { branch, op })?.state !== 'succeeded'
  const positions = [...transaction.branches.keys()]
  const branch = transaction.kind === 'tcc' ? positions.findLast(isOpen) : positions.find(isOpen)
  return branch === undefined ? undefined : { branch, op }
}

/** Returns the op that the decision calls, and `confirm` or `commit` while there is none. */
export function chooseOp({ kind, status }: Pick<TwoPhaseTransaction, 'kind' | 'status'>): TccOp | XaOp {
  const isUndone = status === 'aborting' || status === 'failed'
  return kind === 'tcc' ? (isUndone ? 'cancel' : 'confirm') : isUndone ? 'rollback' : 'commit'
}

/** Applies the passing of time: a deadline, or the end of a decision that has no branch left to call. */
function afterTime(transaction: Unfinished, otherwise: Durability, now: number): FoldedTwoPhase {
  if (transaction.status !== 'prepared') return finishIfAll(transaction, otherwise, now)
  if (now < decisionDeadlineAt(transaction)) return { next: transaction, durability: otherwise }
  return decideAbort(transaction, { cause: 'deadline' }, now)
}

function decideAbort(
  transaction: Prepared,
  request: Pick<AbortDecision, 'cause' | 'reason'>,
  now: number,
): FoldedTwoPhase {
  const abort = { ...request, at: now, branches: [...transaction.branches.keys()] }
  return { next: { ...transaction, status: 'aborting', abort, updatedAt: now }, durability: 'strong' }
}

function ignoreEvent(transaction: TwoPhaseTransaction): FoldedTwoPhase {
  return { next: transaction, durability: 'none' }
}
