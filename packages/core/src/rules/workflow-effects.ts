/**
 * Finds the calls that a workflow needs next. Forward, it calls every step that was planned, the compensation of each step
 * that has failed, and the plan. Backward, it compensates the steps that were planned last first.
 */
import {
  findAcceptedAt,
  isFinal,
  type OpProgress,
  type SagaOp,
  type SagaTransaction,
  type WorkflowTransaction,
} from '../transaction.ts'
import { findUnusableValue } from '../values/build-request.ts'
import type { CallKey, TransactionEffect } from './events.ts'
import { PARKED_OP_AT, PLAN } from './op-progress.ts'
import { findTimedOutWait, findWaitEnd } from './saga-waits.ts'
import { mayOpenPlan } from './workflow-plan.ts'
import { findLostAnswer, isDone, isUndone, needsUndo, toSaga } from './workflow-steps.ts'

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<WorkflowTransaction, { readonly status: 'aborting' }>

interface DueCall {
  readonly call: CallKey
  readonly progress: OpProgress
}

/** Returns what the workflow needs at this instant. It is derived from the state alone, so nothing is forgotten when a save fails. */
export function workflowEffects(workflow: WorkflowTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(workflow)) return []
  if (workflow.status === 'aborting') return toEffects(workflow, listUndo(workflow), undefined, now)
  if (awaitsStart(workflow, now)) {
    const start = workflowStartAt(workflow)
    return [{ type: 'wake-at', at: Math.min(start, workflowDeadlineAt(workflow) ?? start) }]
  }
  return toEffects(workflow, listForward(workflow), findWake(workflow, now), now)
}

function toEffects(
  workflow: Submitted | Aborting,
  due: readonly DueCall[],
  firstWakeAt: number | undefined,
  now: number,
): readonly TransactionEffect[] {
  const effects: TransactionEffect[] = []
  let wakeAt = firstWakeAt
  for (const { call, progress } of due) {
    const nextAt = findNextAt(workflow, call, progress)
    if (nextAt !== undefined && nextAt > now) wakeAt = earlier(wakeAt, nextAt)
    else effects.push({ type: 'call', call })
  }
  if (wakeAt !== undefined) effects.push({ type: 'wake-at', at: wakeAt })
  return effects
}

function listForward({ steps, branches, plan, ...rest }: Submitted): readonly DueCall[] {
  const workflow = { steps, branches, plan, ...rest }
  const due: DueCall[] = []
  const sealed = findNextSeal(workflow)
  for (const [branch, { action, compensate }] of branches.entries()) {
    if (action.state === 'failed') {
      const isItsTurn = steps[branch]?.local?.granted === undefined || branch === sealed
      if (isItsTurn && needsUndo(workflow, branch) && isCallable(compensate))
        due.push({ call: { branch, op: 'compensate' }, progress: compensate })
    } else if (steps[branch]?.branch.wait === undefined && isCallable(action))
      due.push({ call: { branch, op: 'action' }, progress: action })
  }
  if (plan.until === undefined && isCallable(plan.call))
    due.push({ call: { branch: PLAN, op: 'plan' }, progress: plan.call })
  return due
}

/**
 * Finds the one slot that is sealed now. Behind a step that failed within its plan call, an attempt in which it did not fail may
 * have gone on, so its own slot is sealed last.
 */
function findNextSeal(workflow: Submitted): number {
  const { steps, branches } = workflow
  return branches.findLastIndex(
    ({ action }, position) =>
      action.state === 'failed' &&
      steps[position]?.local?.granted !== undefined &&
      !isUndone(workflow, position),
  )
}

/**
 * Lists the compensations that are due: those of the highest rank that has anything left to undo. While a plan call with a grant
 * is under way its steps may still take effect, and nothing is undone before them.
 */
function listUndo(workflow: Aborting): readonly DueCall[] {
  if (workflow.plan.call.state === 'calling') return []
  const left = workflow.abort.branches.filter((position) => !isUndone(workflow, position))
  const rankOf = (position: number) => workflow.steps[position]?.rank ?? 0
  const highest = left.reduce((rank, position) => Math.max(rank, rankOf(position)), 0)
  return left.flatMap((branch) => {
    const progress = workflow.branches[branch]
    // The step's own call must have ended, or its effect could come after that of its compensation.
    if (rankOf(branch) !== highest || progress === undefined || progress.action.state === 'calling') return []
    const { compensate } = progress
    return isCallable(compensate)
      ? [{ call: { branch, op: 'compensate' as const }, progress: compensate }]
      : []
  })
}

function isCallable({ state }: OpProgress): boolean {
  return state === 'idle' || state === 'waiting'
}

/** Finds when time changes the workflow: the deadline, the end of a wait, or now where something follows from what is durable. */
function findWake(workflow: Submitted, now: number): number | undefined {
  if (isDone(workflow) || mayOpenPlan(workflow)) return now
  // Once the code has returned, only compensations are missing, and they are never given up.
  if (workflow.plan.until === 'end') return undefined
  // A workflow that has lost an answer waits for a person.
  const parkedAt = findLostAnswer(workflow) === undefined ? undefined : PARKED_OP_AT
  const deadline = workflow.noReturnAt === undefined ? workflowDeadlineAt(workflow) : undefined
  let wakeAt = earlier(deadline, parkedAt)
  if (workflow.steps.every(({ branch }) => branch.wait === undefined)) return wakeAt
  const saga = toSaga(workflow) as Extract<SagaTransaction, { readonly status: 'submitted' }>
  if (findTimedOutWait(saga) !== undefined) return now
  for (const [position, { branch }] of workflow.steps.entries()) {
    const action = workflow.branches[position]?.action
    if (branch.wait === undefined) continue
    if (action?.state === 'open') wakeAt = earlier(wakeAt, action.nextAt)
    else if (action?.state === 'idle')
      wakeAt = earlier(wakeAt, typeof findWaitEnd(saga, position, now) === 'string' ? PARKED_OP_AT : now)
  }
  return wakeAt
}

/** Finds when an op may be called. Returns undefined for now. A request that cannot be built waits for an operator. */
function findNextAt(
  workflow: Submitted | Aborting,
  { branch, op }: CallKey,
  { state, nextAt }: OpProgress,
): number | undefined {
  if (state === 'waiting') return nextAt
  const isTemplate = workflow.steps[branch]?.branch.compensationContent?.template !== undefined
  if (op !== 'compensate' || !isTemplate) return undefined
  const isBuildable = findUnusableValue(toSaga(workflow), branch, op satisfies SagaOp) === undefined
  return isBuildable ? undefined : PARKED_OP_AT
}

/** Finds a compensation that is due and cannot be built, with the reason. */
export function findUnbuildable(
  workflow: Submitted | Aborting,
): { readonly call: CallKey; readonly reason: string } | undefined {
  const due = workflow.status === 'aborting' ? listUndo(workflow) : listForward(workflow)
  for (const { call, progress } of due) {
    if (progress.state !== 'idle' || findNextAt(workflow, call, progress) === undefined) continue
    const reason = findUnusableValue(toSaga(workflow), call.branch, 'compensate')
    if (reason !== undefined) return { call, reason }
  }
  return undefined
}

/**
 * Tells whether a delayed workflow still waits for its start. A workflow without a delay has no start to wait for, and one
 * that has begun goes on, even if the clock was ahead when the workflow was accepted and has been set back since.
 */
export function awaitsStart(workflow: Submitted, now: number): boolean {
  const { definition, generation, plan, steps } = workflow
  if (definition.delayMs === undefined || generation !== undefined) return false
  const hasBegun = plan.call.attempts > 0 || plan.number > 1 || steps.length > 0
  return now < workflowStartAt(workflow) && !hasBegun
}

export function workflowStartAt({ createdAt, definition, generation }: WorkflowTransaction): number {
  return generation?.at ?? createdAt + (definition.delayMs ?? 0)
}

/** It counts from the begin of the generation. */
export function workflowDeadlineAt(workflow: WorkflowTransaction): number | undefined {
  const { deadlineMs } = workflow.definition
  return deadlineMs === undefined ? undefined : findAcceptedAt(workflow) + deadlineMs
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
