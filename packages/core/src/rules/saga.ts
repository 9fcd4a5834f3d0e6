/**
 * The rules of the saga. Forward, an action is called when all its predecessors have succeeded. Backward, every branch
 * whose action may have been sent is compensated after all of its successors; the failed branch is compensated too.
 * An unknown answer is never a failure. Only a failed action, a missed deadline, an exhausted retry limit or a request
 * makes a saga abort.
 */
import type { AbortCause } from '@counterstep/protocol'
import { findEdit } from '../record/edits.ts'
import {
  type AbortDecision,
  hasStages,
  isFinal,
  type OpProgress,
  type SagaBranchProgress,
  type SagaTransaction,
  type Signal,
} from '../transaction.ts'
import type { UnusableRequest } from '../values/build-request.ts'
import { isProducer, succeedWithValues } from '../values/keep-values.ts'
import type { Durability, TransactionEvent } from './events.ts'
import {
  type Answered,
  attentionReason,
  describeUnsendable,
  findPolicy,
  type HeldBack,
  holdBackCalls,
  mapOps,
  markSent,
  parkedReason,
  recordAnswer,
  releaseOrphanedCall,
  retryNow,
  waitAgain,
  waitAgainWithin,
  withOp,
  withoutAttention,
  withoutNextAt,
} from './op-progress.ts'
import { awaitsLastActions, awaitsStart, isOverdue, isUndone, needsMark } from './saga-effects.ts'
import { haveAllSucceeded } from './saga-graph.ts'
import { addSignal, listAwaiting } from './saga-signals.ts'
import { findUnusable, markUnusable } from './saga-values.ts'
import { findTimedOutWait, passWaits } from './saga-waits.ts'

export interface Folded {
  readonly next: SagaTransaction
  readonly durability: Durability
}

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>
type Unfinished = Submitted | Aborting

export function foldSaga(saga: SagaTransaction, event: TransactionEvent, now: number): Folded {
  if (isFinal(saga)) return ignoreEvent(saga)
  switch (event.type) {
    case 'claimed':
      return advance(
        { ...mapOps(saga, releaseOrphanedCall), epoch: event.epoch, sentUnknown: event.sentUnknown },
        now,
      )
    case 'sent':
      return { next: markSent(saga, event.calls, now), durability: 'none' }
    case 'answered':
      return applyAnswer(saga, event, now)
    case 'held-back':
      return applyHeldBack(saga, event, now)
    case 'time':
      return advance(saga, now)
    case 'signal-asked':
      return applySignal(saga, event.signal, now)
    case 'abort-asked':
      return saga.status === 'aborting' || saga.noReturnAt !== undefined
        ? ignoreEvent(saga)
        : decideAbort(saga, { cause: 'requested', ...pickReason(event) }, now)
    case 'retry-asked':
      return { next: retryNow(saga, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: { ...withoutAttention(saga), status: 'stopped', finishedAt: now, updatedAt: now },
        durability: 'strong',
      }
    case 'submit-asked':
    case 'register-asked':
    case 'record-asked':
    case 'end-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return ignoreEvent(saga)
  }
}

function applyAnswer(saga: Unfinished, event: Answered, now: number): Folded {
  const progress = recordAnswer(saga, event, now)
  if (progress === undefined) return ignoreEvent(saga)
  return event.call.op === 'action'
    ? applyActionAnswer(saga, progress, event, now)
    : applyCompensationAnswer(saga, progress, event, now)
}

/** A signal that is there already changes nothing, however often it comes. */
function applySignal(saga: Unfinished, signal: Signal, now: number): Folded {
  const isKnown = saga.signals?.some(({ id }) => id === signal.id) ?? false
  if (saga.status === 'aborting' || isKnown) return ignoreEvent(saga)
  const [first] = listAwaiting(saga, signal.name)
  return { next: addSignal(saga, signal, first, now), durability: 'strong' }
}

/**
 * Backward, no answer to an action ends the saga: the abort decision may not be durable yet, and then each compensation may have
 * been declared done. The end follows from the time, once the decision is durable.
 */
function applyActionAnswer(saga: Unfinished, progress: OpProgress, event: Answered, now: number): Folded {
  const { call, answer } = event
  const { branch } = call
  const { result } = answer
  const role = saga.definition.branches[branch]?.role
  if (result === 'success') {
    const next = applyOp(saga, event, succeedWithValues(saga, branch, progress, answer.body), now)
    // A request is built from these values, so they are durable before it is sent.
    const durability = isProducer(saga, branch) ? 'strong' : answerDurability(saga)
    if (next.status === 'aborting') return { next, durability }
    return finishIfDone(next, durability, now)
  }
  // A retriable comes after the point of no return, so its failure counts as unknown.
  if (result === 'failure' && role !== 'retriable') {
    const next = applyOp(saga, event, { ...progress, state: 'failed' }, now)
    if (next.status === 'aborting') return { next, durability: answerDurability(next) }
    // After the mark of no return only the pivot can fail, and if it has failed, the saga can still be undone.
    return decideAbort(withoutMark(next), { cause: 'branch-failed', branch }, now)
  }
  if (saga.status === 'submitted' && saga.noReturnAt === undefined && isRefusedForValue(saga, event)) {
    const next = applyOp(saga, event, { ...progress, state: 'idle' }, now)
    return decideAbort(next, { cause: 'value-unusable', branch, reason: REFUSED_URL }, now)
  }
  // Backward, an action is not called again: its compensation follows, whatever the action did.
  if (saga.status === 'aborting') {
    const next = applyOp(saga, event, { ...progress, state: 'idle' }, now)
    return { next, durability: answerDurability(saga) }
  }
  const limit = role === undefined ? findPolicy(saga, call).limit : null
  const waiting = waitAgainWithin(limit, saga, progress, event, now)
  const next = applyOp(saga, event, waiting, now)
  if (limit !== null && waiting.failures >= limit)
    return decideAbort(next, { cause: 'retry-limit', branch }, now)
  const reason = role === undefined ? parkedReason(next, waiting, call) : findAttention(next, waiting, event)
  return afterTime(reason === undefined ? next : { ...next, attention: reason }, 'strong', now)
}

const REFUSED_URL = 'the URL with its values may not be called'

/**
 * Tells whether the caller refused a URL that was sound at submit, when each place held a sample value. So a value is
 * to blame, nothing was sent, and asking again would change nothing.
 */
function isRefusedForValue(saga: SagaTransaction, { call, answer }: Answered): boolean {
  if (findEdit(saga, call)?.url !== undefined) return false
  const target = saga.definition.branches[call.branch]
  const template = call.op === 'action' ? target?.actionTemplate : target?.compensationContent?.template
  return answer.error === 'bad-url' && template?.url !== undefined
}

/** Returns why a person should look at a call that is never given up. Undefined: there is no reason yet. */
function findAttention(saga: SagaTransaction, progress: OpProgress, event: Answered): string | undefined {
  return isRefusedForValue(saga, event)
    ? describeUnsendable(saga, event.call, REFUSED_URL)
    : attentionReason(saga, progress, event)
}

/** Backward, an action that was not sent is never sent, and its compensation no longer waits for it. This is no end either. */
function applyHeldBack(saga: Unfinished, event: HeldBack, now: number): Folded {
  const next = holdBackCalls(saga, event, now)
  if (next === saga) return ignoreEvent(saga)
  if (next.status === 'submitted') return afterTime(next, 'none', now)
  return { next: { ...next, branches: next.branches.map(giveUpAction) }, durability: 'none' }
}

/** A compensation is never given up. The answer failure counts as unknown, and a person is told. */
function applyCompensationAnswer(
  saga: Unfinished,
  progress: OpProgress,
  event: Answered,
  now: number,
): Folded {
  if (saga.status !== 'aborting') return ignoreEvent(saga)
  if (event.answer.result === 'success') {
    const next = applyOp(saga, event, { ...progress, state: 'succeeded' }, now)
    return finishIfUndone(next, answerDurability(saga), now)
  }
  const waiting = waitAgain(saga, progress, event, now)
  const next = applyOp(saga, event, waiting, now)
  const reason = findAttention(saga, waiting, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

/** In strict mode (checkpointMs is 0) each result is durable before the next call. */
function answerDurability(saga: SagaTransaction): Durability {
  return saga.definition.checkpointMs === 0 ? 'strong' : 'lazy'
}

function finishIfDone(saga: Submitted, otherwise: Durability, now: number): Folded {
  if (!haveAllSucceeded(saga)) return afterTime(saga, otherwise, now)
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

/**
 * Applies what follows from the time and from what is durable by now: it opens and ends waits, and sets the mark of no
 * return. It runs only when every strong change is durable, so that none of this is based on one that is not.
 */
function advance(saga: Unfinished, now: number): Folded {
  if (saga.status === 'aborting' || !hasStages(saga.definition)) return afterTime(saga, 'none', now)
  // All may be durable but the end, which then comes, however late that is decided.
  const isTooLate = isOverdue(saga, now) && !haveAllSucceeded(saga)
  if (awaitsStart(saga, now) || isTooLate) return afterTime(saga, 'none', now)
  const timedOut = findTimedOutWait(saga)
  if (timedOut !== undefined) return decideAbort(saga, { cause: 'signal-timeout', branch: timedOut }, now)
  const { saga: passed, durability, unusable } = passWaits(saga, now)
  if (durability === 'strong') return { next: passed, durability }
  const otherwise = durability === 'lazy' ? answerDurability(saga) : 'none'
  if (unusable !== undefined) return rejectUnusable(passed, unusable, otherwise, now)
  const after = finishIfDone(passed, otherwise, now)
  if (after.next.status !== 'submitted' || !needsMark(after.next)) return after
  return { next: { ...after.next, noReturnAt: now, updatedAt: now }, durability: 'strong' }
}

/**
 * Applies what follows without an answer: a deadline, a request that cannot be built, or the end of an abort that had
 * nothing to undo.
 */
function afterTime(saga: Unfinished, otherwise: Durability, now: number): Folded {
  if (saga.status === 'aborting') {
    const marked = markUnusable(saga)
    return finishIfUndone(marked, marked === saga ? otherwise : 'strong', now)
  }
  if (isOverdue(saga, now) && !awaitsLastActions(saga, now))
    return decideAbort(saga, { cause: 'deadline' }, now)
  const unusable = findUnusable(saga)
  return unusable === undefined
    ? { next: saga, durability: otherwise }
    : rejectUnusable(saga, unusable, otherwise, now)
}

/** Turns the saga around for a value that cannot be used. After the point of no return it asks for a person instead. */
function rejectUnusable(
  saga: Submitted,
  { branch, reason }: UnusableRequest,
  otherwise: Durability,
  now: number,
): Folded {
  if (saga.noReturnAt === undefined)
    return decideAbort(saga, { cause: 'value-unusable', branch, reason }, now)
  if (saga.attention !== undefined) return { next: saga, durability: otherwise }
  const attention = describeUnsendable(saga, { branch, op: 'action' }, reason)
  return { next: { ...saga, attention }, durability: 'strong' }
}

function withoutMark<S extends SagaTransaction>(saga: S): S {
  if (saga.noReturnAt === undefined) return saga
  const { noReturnAt: _, ...rest } = saga
  return rest as S
}

interface AbortRequest {
  readonly cause: AbortCause
  readonly branch?: number
  readonly reason?: string
}

function decideAbort(saga: Submitted, request: AbortRequest, now: number): Folded {
  const branches = saga.branches.flatMap((progress, position) =>
    saga.sentUnknown || mayHaveRun(progress.action) ? [position] : [],
  )
  const abort: AbortDecision = { ...request, at: now, branches }
  return {
    next: { ...saga, branches: saga.branches.map(giveUpAction), status: 'aborting', abort, updatedAt: now },
    durability: 'strong',
  }
}

/** An action that a person has declared done was perhaps never sent from here, and has to be undone all the same. */
function mayHaveRun({ attempts, byHand }: OpProgress): boolean {
  return attempts > 0 || byHand !== undefined
}

/** Backward, no action waits to be called again, and no wait is open. */
export function giveUpAction(progress: SagaBranchProgress): SagaBranchProgress {
  if (progress.action.state !== 'waiting' && progress.action.state !== 'open') return progress
  return { ...progress, action: { ...withoutNextAt(progress.action), state: 'idle' } }
}

function pickReason({ reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

function applyOp<S extends Unfinished>(saga: S, { call }: Answered, progress: OpProgress, now: number): S {
  return { ...withOp(saga, call, progress), updatedAt: now }
}

function ignoreEvent(saga: SagaTransaction): Folded {
  return { next: saga, durability: 'none' }
}
