/**
 * The rules of the workflow. Code plans its steps: it is asked by plan calls, and a step that it has planned is durable before
 * it is called. What ran is undone by these rules and never by the code, so an abort, a deadline and a crash need no help
 * from it. A step that fails is compensated at once, also while the code goes on, because an earlier copy of its call may
 * still take effect.
 */
import type { PlanFailure } from '@counterstep/protocol'
import { ALREADY_COMPENSATED } from '@counterstep/protocol/barrier'
import {
  isFinal,
  type OpProgress,
  type SagaTransaction,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { failWithAnswer } from '../values/keep-failure.ts'
import { JOURNAL_FULL, succeedWithValues } from '../values/keep-values.ts'
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
  PLAN,
  PLAN_WORDS,
  parkedReason,
  recordAnswer,
  releaseOrphanedCall,
  retryNow,
  waitAgain,
  waitAgainWithin,
  withOp,
  withoutAttention,
} from './op-progress.ts'
import { giveUpAction } from './saga.ts'
import { addSignal } from './saga-signals.ts'
import { findTimedOutWait, passWaits } from './saga-waits.ts'
import { type AbortRequest, turnAround, withoutPlanAttention, withoutPlanCall } from './workflow-abort.ts'
import { awaitsStart, findUnbuildable, workflowDeadlineAt } from './workflow-effects.ts'
import { beginGeneration } from './workflow-generation.ts'
import {
  acceptPlan,
  findPlanFault,
  isFailedStep,
  isJournalFull,
  mayOpenPlan,
  openPlan,
  type Plan,
} from './workflow-plan.ts'
import { findGrant } from './workflow-slots.ts'
import {
  findLostAnswer,
  findTaker,
  fromSaga,
  isDone,
  isUndone,
  needsUndo,
  toSaga,
  withEnds,
} from './workflow-steps.ts'

export interface FoldedWorkflow {
  readonly next: WorkflowTransaction
  readonly durability: Durability
}

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<WorkflowTransaction, { readonly status: 'aborting' }>
type Unfinished = Submitted | Aborting
type SubmittedSaga = Extract<SagaTransaction, { readonly status: 'submitted' }>

export function foldWorkflow(
  workflow: WorkflowTransaction,
  event: TransactionEvent,
  now: number,
): FoldedWorkflow {
  if (isFinal(workflow)) return ignoreEvent(workflow)
  switch (event.type) {
    case 'claimed':
      return advance(
        { ...mapOps(workflow, releaseOrphanedCall), epoch: event.epoch, sentUnknown: event.sentUnknown },
        now,
      )
    case 'sent':
      return { next: markSent(workflow, event.calls, now), durability: 'none' }
    case 'answered':
      return applyAnswer(workflow, event, now)
    case 'held-back':
      return applyHeldBack(workflow, event, now)
    case 'time':
      return advance(workflow, now)
    case 'signal-asked': {
      const isKnown = workflow.signals?.some(({ id }) => id === event.signal.id) ?? false
      if (workflow.status === 'aborting' || isKnown) return ignoreEvent(workflow)
      // Code gets null for a signal that carries nothing, since it gets no value at all for one that did not come in time.
      const signal = { ...event.signal, payload: event.signal.payload ?? 'null' }
      const taker = findTaker(workflow, signal.name)
      const signalled = addSignal(toSubmittedSaga(workflow), signal, taker, now)
      return { next: fromSaga(workflow, signalled), durability: 'strong' }
    }
    case 'abort-asked':
      return workflow.status === 'aborting' || workflow.noReturnAt !== undefined
        ? ignoreEvent(workflow)
        : decideAbort(workflow, { cause: 'requested', ...pickReason(event.reason) }, now)
    case 'retry-asked':
      return { next: retryNow(workflow, now), durability: 'strong' }
    case 'stop-asked':
      return {
        next: {
          ...withoutAttention(withoutPlanCall(workflow)),
          status: 'stopped',
          finishedAt: now,
          updatedAt: now,
        },
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
      return ignoreEvent(workflow)
  }
}

function applyAnswer(workflow: Unfinished, event: Answered, now: number): FoldedWorkflow {
  const progress = recordAnswer(workflow, event, now)
  if (progress === undefined) return ignoreEvent(workflow)
  if (event.call.branch === PLAN)
    return workflow.status === 'submitted'
      ? applyPlanAnswer(workflow, progress, event, now)
      : endPlanCall(workflow, now)
  return event.call.op === 'action'
    ? applyActionAnswer(workflow, progress, event, now)
    : applyCompensationAnswer(workflow, progress, event, now)
}

/**
 * Ends the plan call that was under way at the turn. Its answer does not count: the barrier's rows tell the seals of its slots
 * what has run, and its steps are never called.
 */
function endPlanCall(workflow: Aborting, now: number): FoldedWorkflow {
  return afterTime({ ...withoutPlanCall(workflow), updatedAt: now }, answerDurability(workflow), now)
}

/**
 * A lost or useless answer of a plan call means nothing: the same call is made again. Nothing is ever undone because of one. An answer that adds steps is a strong change, so they are durable before any of them is called.
 */
function applyPlanAnswer(
  workflow: Submitted,
  progress: OpProgress,
  event: Answered,
  now: number,
): FoldedWorkflow {
  const { plan: read } = event
  if (event.answer.result !== 'success' || read === undefined)
    return askAgain(workflow, progress, event, undefined, now)
  if (read.type === 'bad') return askAgain(workflow, progress, event, badPlan(read.reason), now)
  const { plan } = read
  if (plan.outcome.type === 'refused') {
    const { code, message } = plan.outcome.failure
    const isOfBarrier = code === ALREADY_COMPENSATED || code === 'GID_REUSED'
    if (isOfBarrier && findGrant(workflow).count > 0 && workflow.noReturnAt === undefined) {
      // The call has ended, so the seals do not wait for it.
      const ended = applyOp(workflow, event, { ...progress, state: 'idle' }, now)
      return decideAbort(ended, toCodeFailure(plan.outcome.failure), now)
    }
    const refusal = { error: code, reason: `${PLAN_WORDS} was refused with ${code}: ${message}`, atCap: true }
    return askAgain(workflow, progress, event, refusal, now)
  }
  const fault = findPlanFault(workflow, plan)
  if (fault !== undefined) return askAgain(workflow, progress, event, badPlan(fault), now)
  if (isJournalFull(workflow, plan)) {
    const full = { error: JOURNAL_FULL, reason: `${PLAN_WORDS} has no room in the journal`, atCap: true }
    return askAgain(workflow, progress, event, full, now)
  }
  return carryOut(workflow, { ...progress, state: 'succeeded' }, plan, now)
}

function carryOut(workflow: Submitted, progress: OpProgress, plan: Plan, now: number): FoldedWorkflow {
  const accepted = acceptPlan(withoutPlanAttention(workflow), progress, plan, now)
  if (plan.outcome.type === 'failed') return decideAbort(accepted, toCodeFailure(plan.outcome.failure), now)
  const hasFailure = plan.ran.some(isFailedStep)
  const isLazy = plan.next.length === 0 && plan.outcome.type === 'wait' && !hasFailure
  return afterTime(accepted, isLazy ? answerDurability(workflow) : 'strong', now)
}

function toCodeFailure(failure: PlanFailure): AbortRequest {
  return { cause: 'workflow-failed', reason: JSON.stringify(failure) }
}

interface Trouble {
  readonly error: string
  readonly reason: string
  /** The call is made again at the cap of the back-off, since only a person can change the answer. */
  readonly atCap?: boolean
}

function badPlan(reason: string): Trouble {
  return { error: 'bad-plan', reason: `${PLAN_WORDS} cannot be carried out: ${reason}` }
}

/**
 * Any answer but a plan is unknown, also one that would be a failure of a branch: a gateway's 409 must not undo an order. Only 425
 * keeps its meaning: a step within the call is not done yet. A call that was not sent is no failed attempt either.
 */
function askAgain(
  workflow: Submitted,
  progress: OpProgress,
  event: Answered,
  trouble: Trouble | undefined,
  now: number,
): FoldedWorkflow {
  const { excerpt: _, ...unshown } = event.answer
  // An answer that was meant for a plan may have the payloads of its steps, which are never shown.
  const shown = trouble === undefined ? event.answer : { ...unshown, error: trouble.error }
  const result = event.answer.result === 'ongoing' ? ('ongoing' as const) : ('unknown' as const)
  const answer = { ...shown, result }
  const unknown: Answered = { ...event, answer }
  const recorded = recordAnswer(workflow, unknown, now) ?? progress
  const waiting = waitAgain(workflow, recorded, unknown, now)
  const { capMs } = findPolicy(workflow, event.call)
  const later =
    trouble?.atCap === true && waiting.nextAt !== undefined
      ? Math.max(waiting.nextAt, now + capMs)
      : undefined
  const next = applyOp(workflow, event, later === undefined ? waiting : { ...waiting, nextAt: later }, now)
  const reason =
    parkedReason(next, waiting, event.call) ?? trouble?.reason ?? attentionReason(next, waiting, unknown)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

function applyActionAnswer(
  workflow: Unfinished,
  progress: OpProgress,
  event: Answered,
  now: number,
): FoldedWorkflow {
  const { call, answer } = event
  const role = workflow.steps[call.branch]?.branch.role
  if (answer.result === 'success') {
    const succeeded = succeedWithValues(toSaga(workflow), call.branch, progress, answer.body)
    const kept = isUnread(answer) ? { ...succeeded, error: JOURNAL_FULL } : succeeded
    const next = withEnds(applyOp(workflow, event, kept, now))
    // Backward, a compensation is built from the answer, so it is durable before that is sent.
    const isUsed = next.status === 'aborting' && needsUndo(next, call.branch)
    return afterTime(next, isUsed ? 'strong' : answerDurability(workflow), now)
  }
  if (answer.result === 'failure' && role !== 'retriable') {
    const failed = failWithAnswer(workflow, progress, answer)
    const next = withEnds(applyOp(workflow, event, failed, now))
    if (next.status === 'aborting') return afterTime(next, answerDurability(workflow), now)
    // It is durable before the code may catch it, and before the compensation that follows at once.
    return { next: withoutMark(next), durability: 'strong' }
  }
  // Backward, an action is not called again: its compensation follows, whatever the action did.
  if (workflow.status === 'aborting')
    return afterTime(
      applyOp(workflow, event, { ...progress, state: 'idle' }, now),
      answerDurability(workflow),
      now,
    )
  const limit = role === undefined ? findPolicy(workflow, call).limit : null
  const waiting = waitAgainWithin(limit, workflow, progress, event, now)
  const next = applyOp(workflow, event, waiting, now)
  if (limit !== null && waiting.failures >= limit)
    return decideAbort(next, { cause: 'retry-limit', branch: call.branch }, now)
  const reason =
    role === undefined ? parkedReason(next, waiting, call) : attentionReason(next, waiting, event)
  return afterTime(reason === undefined ? next : { ...next, attention: reason }, 'strong', now)
}

/** The answer is larger than what was asked for, or is packed, so its text is not there. */
function isUnread({ statusCode, body }: Answered['answer']): boolean {
  return statusCode !== undefined && body === undefined
}

function describeLost({ id }: WorkflowStep): string {
  return `${PLAN_WORDS} is not asked for: the answer of ${id} has no room in the journal or is over a bound`
}

/** A compensation is never given up. The answer failure counts as unknown, and a person is told. */
function applyCompensationAnswer(
  workflow: Unfinished,
  progress: OpProgress,
  event: Answered,
  now: number,
): FoldedWorkflow {
  if (event.answer.result === 'success') {
    const next = applyOp(workflow, event, { ...progress, state: 'succeeded' }, now)
    return afterTime(next, answerDurability(workflow), now)
  }
  const waiting = waitAgain(workflow, progress, event, now)
  const next = applyOp(workflow, event, waiting, now)
  const reason = attentionReason(next, waiting, event)
  return { next: reason === undefined ? next : { ...next, attention: reason }, durability: 'strong' }
}

/** Backward, an action that was not sent is never sent, and its compensation no longer waits for it. */
function applyHeldBack(workflow: Unfinished, event: HeldBack, now: number): FoldedWorkflow {
  const next = holdBackCalls(workflow, event, now)
  if (next === workflow) return ignoreEvent(workflow)
  if (next.status === 'submitted') return afterTime(next, 'none', now)
  const given = { ...next, branches: next.branches.map(giveUpAction) }
  return afterTime(given.plan.call.state === 'waiting' ? withoutPlanCall(given) : given, 'none', now)
}

/** In strict mode (checkpointMs is 0) each result is durable before the next call. */
function answerDurability({ definition }: WorkflowTransaction): Durability {
  return definition.checkpointMs === 0 ? 'strong' : 'lazy'
}

/**
 * Applies what follows from the time and from what is durable by now: it opens and ends waits, and opens the next plan. It
 * runs only when every strong change is durable, so a plan never shows the code what a crash could make untrue for good.
 */
function advance(workflow: Unfinished, now: number): FoldedWorkflow {
  if (workflow.status === 'aborting' || awaitsStart(workflow, now) || isOverdue(workflow, now))
    return afterTime(workflow, 'none', now)
  if (workflow.plan.until === 'end') return afterTime(workflow, 'none', now)
  const saga = toSubmittedSaga(workflow)
  const timedOut = findTimedOutWait(saga)
  if (timedOut !== undefined) return decideAbort(workflow, { cause: 'signal-timeout', branch: timedOut }, now)
  const { saga: passed, durability, unusable } = passWaits(saga, now)
  const next = passed === saga ? workflow : fromSaga(workflow, passed)
  if (durability === 'strong') return { next, durability }
  const otherwise = durability === 'lazy' ? answerDurability(workflow) : 'none'
  if (unusable !== undefined)
    return decideAbort(
      next,
      { cause: 'value-unusable', branch: unusable.branch, reason: unusable.reason },
      now,
    )
  const lost = findLostAnswer(next)
  if (lost !== undefined && next.attention === undefined)
    return { next: { ...next, attention: describeLost(lost) }, durability: 'strong' }
  if (!mayOpenPlan(next)) return afterTime(next, otherwise, now)
  const opened = openPlan(next, now)
  // A call with a grant may have an effect, so each node must make the same one.
  const isStrong = otherwise === 'strong' || findGrant(opened).count > 0
  return { next: opened, durability: isStrong ? 'strong' : 'lazy' }
}

/** Applies what follows without an answer: a deadline, the end, or a compensation that cannot be built. */
function afterTime(workflow: Unfinished, otherwise: Durability, now: number): FoldedWorkflow {
  if (workflow.status === 'aborting') {
    const marked = markUnbuildable(workflow)
    return finishIfUndone(marked, marked === workflow ? otherwise : 'strong', now)
  }
  if (isDone(workflow)) return finish(workflow, now)
  if (isOverdue(workflow, now)) return decideAbort(workflow, { cause: 'deadline' }, now)
  const marked = markUnbuildable(workflow)
  return { next: marked, durability: marked === workflow ? otherwise : 'strong' }
}

/** The code needs no signal and no time any more, so its open waits are dropped. The result is durable with the end. */
function finish(workflow: Submitted, now: number): FoldedWorkflow {
  const { continueWith } = workflow.plan
  if (continueWith !== undefined)
    return { next: beginGeneration(workflow, continueWith, now), durability: 'strong' }
  const branches = workflow.branches.map(giveUpAction)
  return {
    next: { ...withoutAttention(workflow), branches, status: 'succeeded', finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
}

function finishIfUndone(workflow: Aborting, otherwise: Durability, now: number): FoldedWorkflow {
  if (!workflow.abort.branches.every((position) => isUndone(workflow, position)))
    return { next: workflow, durability: otherwise }
  return {
    next: { ...withoutAttention(workflow), status: 'failed', finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
}

/** Once the code has returned, only compensations of failed steps are missing, so the deadline counts no more. */
function isOverdue(workflow: Submitted, now: number): boolean {
  const deadline = workflowDeadlineAt(workflow)
  return (
    workflow.noReturnAt === undefined &&
    workflow.plan.until !== 'end' &&
    deadline !== undefined &&
    now >= deadline
  )
}

function markUnbuildable<W extends Unfinished>(workflow: W): W {
  if (workflow.attention !== undefined) return workflow
  const unbuildable = findUnbuildable(workflow)
  if (unbuildable === undefined) return workflow
  return { ...workflow, attention: describeUnsendable(workflow, unbuildable.call, unbuildable.reason) }
}

/** A failed pivot leaves what came before it, which can still be undone. */
function withoutMark<W extends WorkflowTransaction>(workflow: W): W {
  const isPivotStanding = workflow.steps.some(
    ({ branch }, position) =>
      branch.role === 'pivot' && workflow.branches[position]?.action.state !== 'failed',
  )
  if (workflow.noReturnAt === undefined || isPivotStanding) return workflow
  const { noReturnAt: _, ...rest } = workflow
  return rest as W
}

/** Decides the abort. Its slots and its steps that may have run are undone from here on, and no code is asked. */
function decideAbort(workflow: Submitted, request: AbortRequest, now: number): FoldedWorkflow {
  return { next: turnAround(workflow, request, now), durability: 'strong' }
}

function toSubmittedSaga(workflow: Submitted): SubmittedSaga {
  return toSaga(workflow) as SubmittedSaga
}

function pickReason(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

function applyOp<W extends Unfinished>(
  workflow: W,
  { call }: Answered,
  progress: OpProgress,
  now: number,
): W {
  return { ...withOp(workflow, call, progress), updatedAt: now }
}

function ignoreEvent(workflow: WorkflowTransaction): FoldedWorkflow {
  return { next: workflow, durability: 'none' }
}
