/**
 * The saga's rules. Forward: an action is called when all its predecessors have succeeded. Backward: every branch
 * whose action may have been sent is compensated, the failed one too, after all of its successors.
 * Unknown is never failure. Only a failed action, a missed deadline, an exhausted retry limit or a request turns
 * a saga around.
 */
import type { AbortCause, RetryPolicy } from '@counterstep/protocol'
import { backoffMs } from './backoff.ts'
import type { CallKey, Durability, TransactionEvent } from './events.ts'
import { deadlineAt, isUndone } from './saga-effects.ts'
import {
  type AbortDecision,
  isFinal,
  type OpProgress,
  type SagaBranchProgress,
  type SagaOp,
  type SagaTransaction,
} from './transaction.ts'

/** After this many failed attempts of one compensation a person should look. It goes on all the same. */
export const ATTENTION_FAILURES = 10

export interface Folded {
  readonly next: SagaTransaction
  readonly durability: Durability
}

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>
type Unfinished = Submitted | Aborting
type Answered = Extract<TransactionEvent, { readonly type: 'answered' }>

export function foldSaga(saga: SagaTransaction, event: TransactionEvent, now: number): Folded {
  if (isFinal(saga)) return unchanged(saga)
  switch (event.type) {
    case 'claimed':
      return afterTime(claimed(saga, event.epoch, event.sentUnknown), 'none', now)
    case 'sent':
      return { next: sent(saga, event.calls, now), durability: 'none' }
    case 'answered':
      return answered(saga, event, now)
    case 'time':
      return afterTime(saga, 'none', now)
    case 'abort-asked':
      return saga.status === 'aborting' ? unchanged(saga) : decideAbort(saga, 'requested', undefined, now)
    case 'retry-asked':
      return { next: retriedNow(saga, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(saga), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
  }
}

function claimed(saga: Unfinished, epoch: number, sentUnknown: boolean): Unfinished {
  const branches = saga.branches.map((progress) => ({
    action: disowned(progress.action),
    compensate: disowned(progress.compensate),
  }))
  return { ...saga, branches, epoch, sentUnknown }
}

/** A call of an earlier owner: its answer will not come here, so it is asked again. */
function disowned(progress: OpProgress): OpProgress {
  return progress.state === 'calling' ? { ...progress, state: 'idle' } : progress
}

function sent(saga: Unfinished, calls: readonly CallKey[], now: number): Unfinished {
  const branches = saga.branches.slice()
  for (const { branch, op } of calls) {
    const before = branches[branch]
    if (before === undefined) continue
    const { nextAt: _, ...rest } = before[op]
    const progress: OpProgress = {
      ...rest,
      state: 'calling',
      attempts: rest.attempts + 1,
      startedAt: rest.startedAt ?? now,
    }
    branches[branch] = { ...before, [op]: progress }
  }
  return { ...saga, branches }
}

function answered(saga: Unfinished, event: Answered, now: number): Folded {
  const { branch, op } = event.call
  const before = saga.branches[branch]?.[op]
  if (before === undefined || before.state !== 'calling' || before.attempts !== event.attempt)
    return unchanged(saga)
  const progress = withAnswer(before, event, now)
  return op === 'action'
    ? actionAnswered(saga, branch, progress, event, now)
    : compensationAnswered(saga, branch, progress, event, now)
}

function withAnswer(before: OpProgress, event: Answered, now: number): OpProgress {
  const { result, statusCode, excerpt, error } = event.answer
  const { answer: _answer, error: _error, statusCode: _status, ...rest } = before
  return {
    ...rest,
    result,
    endedAt: now,
    durationMs: event.durationMs,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(excerpt === undefined ? {} : { answer: excerpt }),
    ...(error === undefined ? {} : { error }),
  }
}

function actionAnswered(
  saga: Unfinished,
  branch: number,
  progress: OpProgress,
  event: Answered,
  now: number,
): Folded {
  const { result } = event.answer
  if (result === 'success' || result === 'failure') {
    const state = result === 'success' ? 'succeeded' : 'failed'
    const next = withOp(saga, branch, 'action', { ...progress, state }, now)
    if (next.status === 'aborting') return finishIfUndone(next, answerDurability(next), now)
    if (result === 'failure') return decideAbort(next, 'branch-failed', branch, now)
    return finishIfDone(next, now)
  }
  // Backward, an action is not asked again: its compensation follows, whatever it did.
  if (saga.status === 'aborting') {
    const next = withOp(saga, branch, 'action', { ...progress, state: 'idle' }, now)
    return finishIfUndone(next as Aborting, answerDurability(saga), now)
  }
  const waiting = waitAgain(saga, branch, progress, event, now)
  const next = withOp(saga, branch, 'action', waiting, now)
  const { limit } = policyOf(saga, branch)
  if (limit !== null && waiting.failures >= limit)
    return decideAbort(next as Submitted, 'retry-limit', branch, now)
  return afterTime(next, 'strong', now)
}

/** A compensation that cannot be done is never given up: failure counts as unknown, and a person is told. */
function compensationAnswered(
  saga: Unfinished,
  branch: number,
  progress: OpProgress,
  event: Answered,
  now: number,
): Folded {
  if (saga.status !== 'aborting') return unchanged(saga)
  if (event.answer.result === 'success') {
    const next = withOp(saga, branch, 'compensate', { ...progress, state: 'succeeded' }, now)
    return finishIfUndone(next as Aborting, answerDurability(saga), now)
  }
  const waiting = waitAgain(saga, branch, progress, event, now)
  const next = withOp(saga, branch, 'compensate', waiting, now)
  const reason = attentionReason(saga, branch, waiting, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function attentionReason(
  saga: Unfinished,
  branch: number,
  progress: OpProgress,
  event: Answered,
): string | undefined {
  const id = saga.definition.branches[branch]?.id ?? branch
  if (event.answer.result === 'failure') return `compensation of branch ${id} answered failure`
  if (progress.failures >= ATTENTION_FAILURES)
    return `compensation of branch ${id} failed ${progress.failures} times`
  return undefined
}

/** The counters and the due time are saved before the branch is asked again, so that limits survive a crash. */
function waitAgain(
  saga: Unfinished,
  branch: number,
  progress: OpProgress,
  event: Answered,
  now: number,
): OpProgress {
  const waits = progress.waits + 1
  const wait = backoffMs(policyOf(saga, branch), waits, event.jitter01, event.answer.retryAfterMs)
  const failures = progress.failures + (event.answer.result === 'ongoing' ? 0 : 1)
  return { ...progress, state: 'waiting', waits, failures, nextAt: now + wait }
}

/** In strict mode (checkpointMs 0) each result is durable before the next call. */
function answerDurability(saga: SagaTransaction): Durability {
  return saga.definition.checkpointMs === 0 ? 'strong' : 'lazy'
}

function finishIfDone(saga: Submitted, now: number): Folded {
  const done = saga.branches.every((progress) => progress.action.state === 'succeeded')
  if (!done) return afterTime(saga, answerDurability(saga), now)
  return { next: { ...withoutAttention(saga), status: 'succeeded', finishedAt: now }, durability: 'strong' }
}

function finishIfUndone(saga: Aborting, otherwise: Durability, now: number): Folded {
  if (!saga.abort.branches.every((branch) => isUndone(saga, branch)))
    return { next: saga, durability: otherwise }
  return {
    next: { ...withoutAttention(saga), status: 'failed', finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
}

/** Deadlines, and the end of an abort that had nothing to undo. */
function afterTime(saga: Unfinished, otherwise: Durability, now: number): Folded {
  if (saga.status === 'aborting') return finishIfUndone(saga, otherwise, now)
  const deadline = deadlineAt(saga)
  if (deadline !== undefined && now >= deadline) return decideAbort(saga, 'deadline', undefined, now)
  return { next: saga, durability: otherwise }
}

function decideAbort(saga: Submitted, cause: AbortCause, branch: number | undefined, now: number): Folded {
  const branches = saga.branches.flatMap((progress, position) =>
    saga.sentUnknown || progress.action.attempts > 0 ? [position] : [],
  )
  const abort: AbortDecision = { cause, at: now, branches, ...(branch === undefined ? {} : { branch }) }
  return {
    next: { ...saga, branches: saga.branches.map(actionGivenUp), status: 'aborting', abort, updatedAt: now },
    durability: 'strong',
  }
}

/** Backward, no action waits to be asked again. */
export function actionGivenUp(progress: SagaBranchProgress): SagaBranchProgress {
  if (progress.action.state !== 'waiting') return progress
  const { nextAt: _, ...action } = progress.action
  return { ...progress, action: { ...action, state: 'idle' } }
}

export function retriedNow<S extends Unfinished>(saga: S, now: number): S {
  const branches = saga.branches.map((progress) => ({
    action: dueNow(progress.action),
    compensate: dueNow(progress.compensate),
  }))
  return { ...withoutAttention(saga), branches, nudges: saga.nudges + 1, updatedAt: now }
}

/** Without an instant, so that it does not depend on whose clock the command was given by. */
function dueNow(progress: OpProgress): OpProgress {
  if (progress.state !== 'waiting') return progress
  const { nextAt: _, ...due } = progress
  return due
}

function withOp<S extends Unfinished>(
  saga: S,
  branch: number,
  op: SagaOp,
  progress: OpProgress,
  now: number,
): S {
  const branches = saga.branches.slice()
  const before = branches[branch]
  if (before !== undefined) branches[branch] = { ...before, [op]: progress }
  return { ...saga, branches, updatedAt: now }
}

function withoutAttention<S extends Unfinished>(saga: S): S {
  const { attention: _, ...rest } = saga
  return rest as S
}

function policyOf(saga: SagaTransaction, branch: number): RetryPolicy {
  return saga.definition.branches[branch]?.retry ?? saga.definition.retry
}

function unchanged(saga: SagaTransaction): Folded {
  return { next: saga, durability: 'none' }
}
