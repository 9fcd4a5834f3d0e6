/**
 * The rules of TCC. The client registers each branch before trying it, so only registered branches may have run. The
 * transaction is prepared until the client submits or aborts, or until the deadline passes. Then every branch is
 * confirmed, or every branch is cancelled: newest first, one after the other, and never given up.
 */
import type { BranchId } from '@counterstep/protocol'
import { type AbortDecision, isFinal, type TccOp, type TccTransaction, UNCONFIRMED } from '../transaction.ts'
import type { Durability, TransactionEffect, TransactionEvent } from './events.ts'
import {
  type Answered,
  attentionReason,
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

export interface FoldedTcc {
  readonly next: TccTransaction
  readonly durability: Durability
}

type Unfinished = Exclude<TccTransaction, { readonly finishedAt: number }>
type Prepared = Extract<TccTransaction, { readonly status: 'prepared' }>
type Deciding = Exclude<Unfinished, Prepared>

export function foldTcc(tcc: TccTransaction, event: TransactionEvent, now: number): FoldedTcc {
  if (isFinal(tcc)) return ignoreEvent(tcc)
  switch (event.type) {
    case 'claimed': {
      const { epoch, sentUnknown } = event
      return afterTime({ ...mapOps(tcc, releaseOrphanedCall), epoch, sentUnknown }, 'none', now)
    }
    case 'sent':
      return { next: markSent(tcc, event.calls, now), durability: 'none' }
    case 'answered':
      return tcc.status === 'prepared' ? ignoreEvent(tcc) : applyAnswer(tcc, event, now)
    case 'held-back':
      return { next: holdBackCalls(tcc, event, now), durability: 'none' }
    case 'time':
      return afterTime(tcc, 'none', now)
    case 'register-asked':
      return register(tcc, event, now)
    case 'submit-asked':
      return tcc.status === 'prepared'
        ? finishIfAll({ ...tcc, status: 'submitted', updatedAt: now }, 'strong', now)
        : ignoreEvent(tcc)
    case 'abort-asked': {
      const { reason } = event
      if (tcc.status !== 'prepared') return ignoreEvent(tcc)
      return decideAbort(tcc, { cause: 'requested', ...(reason === undefined ? {} : { reason }) }, now)
    }
    case 'retry-asked':
      return { next: retryNow(tcc, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(tcc), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
    case 'signal-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return ignoreEvent(tcc)
  }
}

export function tccEffects(tcc: TccTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(tcc)) return []
  if (tcc.status === 'prepared') return [{ type: 'wake-at', at: tccDeadlineAt(tcc) }]
  const op = chooseOp(tcc)
  const branch = tcc.branches.findLastIndex((progress) => progress[op].state !== 'succeeded')
  const progress = tcc.branches[branch]?.[op]
  if (progress === undefined || progress.state === 'calling') return []
  if (progress.state === 'waiting' && progress.nextAt !== undefined && progress.nextAt > now) {
    return [{ type: 'wake-at', at: progress.nextAt }]
  }
  return [{ type: 'call', call: { branch, op } }]
}

export function tccDeadlineAt({ createdAt, definition }: TccTransaction): number {
  return createdAt + definition.deadlineMs
}

export function hasBranch(tcc: TccTransaction, id: BranchId): boolean {
  return tcc.registered.some((branch) => branch.id === id)
}

/**
 * Adds a branch. A client that lost the first answer registers it again, and the branch is added only once. `findRefusal`
 * has already compared the contents.
 */
function register(
  tcc: Unfinished,
  { branch }: Extract<TransactionEvent, { readonly type: 'register-asked' }>,
  now: number,
): FoldedTcc {
  if (tcc.status !== 'prepared' || hasBranch(tcc, branch.id)) return ignoreEvent(tcc)
  const registered = [...tcc.registered, branch]
  return {
    next: { ...tcc, registered, branches: [...tcc.branches, UNCONFIRMED], updatedAt: now },
    durability: 'strong',
  }
}

function applyAnswer(tcc: Deciding, event: Answered, now: number): FoldedTcc {
  const progress = recordAnswer(tcc, event, now)
  if (progress === undefined) return ignoreEvent(tcc)
  if (event.answer.result === 'success') {
    const next = { ...withOp(tcc, event.call, { ...progress, state: 'succeeded' }), updatedAt: now }
    return finishIfAll(next, tcc.definition.checkpointMs === 0 ? 'strong' : 'lazy', now)
  }
  const waiting = waitAgain(tcc, progress, event, now)
  const next = { ...withOp(tcc, event.call, waiting), updatedAt: now }
  const reason = attentionReason(tcc, waiting, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function finishIfAll(tcc: Deciding, otherwise: Durability, now: number): FoldedTcc {
  const op = chooseOp(tcc)
  if (!tcc.branches.every((progress) => progress[op].state === 'succeeded'))
    return { next: tcc, durability: otherwise }
  const done = withoutAttention(tcc)
  const next: TccTransaction =
    done.status === 'submitted'
      ? { ...done, status: 'succeeded', finishedAt: now, updatedAt: now }
      : { ...done, status: 'failed', finishedAt: now, updatedAt: now }
  return { next, durability: 'strong' }
}

function chooseOp(tcc: Deciding): TccOp {
  return tcc.status === 'submitted' ? 'confirm' : 'cancel'
}

/** Applies the passing of time: a deadline, or the end of a decision that has no branch left to call. */
function afterTime(tcc: Unfinished, otherwise: Durability, now: number): FoldedTcc {
  if (tcc.status !== 'prepared') return finishIfAll(tcc, otherwise, now)
  if (now < tccDeadlineAt(tcc)) return { next: tcc, durability: otherwise }
  return decideAbort(tcc, { cause: 'deadline' }, now)
}

function decideAbort(
  tcc: Prepared,
  request: Pick<AbortDecision, 'cause' | 'reason'>,
  now: number,
): FoldedTcc {
  const abort = { ...request, at: now, branches: [...tcc.branches.keys()] }
  return { next: { ...tcc, status: 'aborting', abort, updatedAt: now }, durability: 'strong' }
}

function ignoreEvent(tcc: TccTransaction): FoldedTcc {
  return { next: tcc, durability: 'none' }
}
