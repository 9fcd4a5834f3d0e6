/**
 * Finds the calls that a saga needs next. Forward, it calls a branch whose predecessors have all succeeded. Backward, it
 * compensates a branch when nothing that came after the branch is left to undo. A compensation that is for a person is due
 * like any other, so what comes before it waits, but it is never called.
 */

import { hasStages, isFinal, type OpProgress, type SagaOp, type SagaTransaction } from '../transaction.ts'
import { findUnusableValue, listProducers } from '../values/build-request.ts'
import type { TransactionEffect } from './events.ts'
import { PARKED_OP_AT } from './op-progress.ts'
import { findSuccessors, haveAllSucceeded, havePredecessorsSucceeded } from './saga-graph.ts'
import { findTimedOutWait, findWaitEnd, mayOpen } from './saga-waits.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>

/**
 * Returns what the saga needs at this instant. It is derived from the state
 * alone, so nothing is forgotten when a save fails.
 */
export function sagaEffects(saga: SagaTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(saga)) return []
  if (saga.status === 'submitted' && awaitsStart(saga, now)) {
    const start = startAt(saga)
    return [{ type: 'wake-at', at: Math.min(start, deadlineAt(saga) ?? start) }]
  }
  const effects: TransactionEffect[] = []
  const op = saga.status === 'submitted' ? 'action' : 'compensate'
  const next = saga.status === 'submitted' ? makeActionChooser(saga) : makeCompensationChooser(saga)
  let wakeAt =
    saga.status === 'submitted' ? earlier(findDeadlineWake(saga, now), findStageWake(saga, now)) : undefined
  for (let branch = 0; branch < saga.branches.length; branch++) {
    const progress = next(branch)
    if (progress === undefined || isUnmarked(saga, branch)) continue
    const nextAt = findNextAt(progress)
    if (!isBuildable(saga, branch, op, progress)) wakeAt = earlier(wakeAt, findRefusalWake(saga, now))
    else if (nextAt !== undefined && nextAt > now) wakeAt = earlier(wakeAt, nextAt)
    else effects.push({ type: 'call', call: { branch, op } })
  }
  if (wakeAt !== undefined) effects.push({ type: 'wake-at', at: wakeAt })
  return effects
}

function findDeadlineWake(saga: Submitted, now: number): number | undefined {
  const isWithout = saga.noReturnAt !== undefined || awaitsLastActions(saga, now)
  return isWithout ? undefined : deadlineAt(saga)
}

/**
 * Finds when time changes the saga: when the first open wait ends, or now. Nothing is decided on top of an unsaved change, so
 * the saga may lack what follows from its last one, and must not be given back for longer until it has it.
 */
function findStageWake(saga: Submitted, now: number): number | undefined {
  if (!hasStages(saga.definition)) return undefined
  if (haveAllSucceeded(saga) || needsMark(saga) || findTimedOutWait(saga) !== undefined) return now
  return saga.branches
    .map((_, branch) => findWaitWake(saga, branch, now))
    .reduce((first, next) => earlier(first, next), undefined)
}

/** Finds when a wait ends, or opens. */
function findWaitWake(saga: Submitted, branch: number, now: number): number | undefined {
  if (saga.definition.branches[branch]?.wait === undefined) return undefined
  const progress = saga.branches[branch]?.action
  if (progress?.state === 'open') return progress.nextAt
  if (!mayOpen(saga, branch)) return undefined
  return typeof findWaitEnd(saga, branch, now) === 'string' ? findRefusalWake(saga, now) : now
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}

/** Tells whether a branch that cannot be undone is still without the mark that must be durable before its first call. */
function isUnmarked({ definition, noReturnAt }: SagaTransaction, branch: number): boolean {
  return noReturnAt === undefined && definition.branches[branch]?.role !== undefined
}

/** Tells whether a pivot or a retriable is due, so that the mark of no return must be set. */
export function needsMark(saga: Submitted): boolean {
  const next = makeActionChooser(saga)
  return saga.branches.some((_, branch) => isUnmarked(saga, branch) && next(branch) !== undefined)
}

/** Finds when an op may be called. Returns undefined for now. */
function findNextAt({ state, nextAt }: OpProgress): number | undefined {
  if (state === 'waiting') return nextAt
  return state === 'by-hand' ? PARKED_OP_AT : undefined
}

/** A request that was sent once can be built, because its values do not change. */
function isBuildable(saga: SagaTransaction, branch: number, op: SagaOp, { state }: OpProgress): boolean {
  if (state !== 'idle' || saga.definition.values === undefined) return true
  return findUnusableValue(saga, branch, op) === undefined
}

/**
 * Finds when something follows from a value that cannot be used. The saga turns around now. After the point of no return,
 * and backward, it waits for an operator.
 */
function findRefusalWake(saga: SagaTransaction, now: number): number {
  return saga.status === 'submitted' && saga.noReturnAt === undefined ? now : PARKED_OP_AT
}

/**
 * Tells whether a delayed saga still waits for its start. A saga without a delay has no start to wait for, and one that has
 * begun goes on, even if the clock was ahead when the saga was accepted and has been set back since.
 */
export function awaitsStart(saga: Submitted, now: number): boolean {
  return saga.definition.delayMs !== undefined && now < startAt(saga) && !hasBegun(saga)
}

function startAt({ createdAt, definition }: SagaTransaction): number {
  return createdAt + (definition.delayMs ?? 0)
}

/** An action that a person has declared done before the start begins nothing. */
function hasBegun({ branches }: Submitted): boolean {
  return branches.some(
    ({ action: { attempts, state, byHand } }) => attempts > 0 || (state !== 'idle' && byHand === undefined),
  )
}

export function deadlineAt(saga: SagaTransaction): number | undefined {
  const { deadlineMs } = saga.definition
  return deadlineMs === undefined ? undefined : saga.createdAt + deadlineMs
}

/**
 * Whether the deadline has passed, but the saga still waits for its last actions instead of aborting. The wait is
 * bounded: each call ends by its own time-out, and any answer but success leaves an action that is neither under way nor
 * done, which ends the wait.
 */
export function awaitsLastActions(saga: Submitted, now: number): boolean {
  if (saga.definition.lastActionsMayEndLate !== true || !isOverdue(saga, now)) return false
  return saga.branches.every(({ action }) => action.state === 'succeeded' || action.state === 'calling')
}

/**
 * An action that has not been sent by the deadline is not sent any more, even while the last actions are waited for. After
 * the point of no return the deadline counts no more.
 */
export function isOverdue(saga: SagaTransaction, now: number): boolean {
  const deadline = deadlineAt(saga)
  return saga.noReturnAt === undefined && deadline !== undefined && now >= deadline
}

/** Returns the op of a branch that is to be called, now or at its `nextAt`. Undefined: there is none. */
export type NextOp = (branch: number) => OpProgress | undefined

export function makeActionChooser(saga: Submitted): NextOp {
  return (branch) => {
    const action = saga.branches[branch]?.action
    if (action === undefined || (action.state !== 'idle' && action.state !== 'waiting')) return undefined
    if (saga.definition.branches[branch]?.wait !== undefined) return undefined
    return havePredecessorsSucceeded(saga, branch) ? action : undefined
  }
}

export function makeCompensationChooser(saga: Aborting): NextOp {
  const isAllUndone = makeUndoneCheck(saga)
  return (branch) => {
    const progress = saga.branches[branch]
    if (progress === undefined || isUndone(saga, branch)) return undefined
    // The branch's own action call must have ended, or its effect could come after the compensation's.
    if (progress.action.state === 'calling' || progress.compensate.state === 'calling') return undefined
    if (awaitsValues(saga, branch)) return undefined
    return findSuccessors(saga, branch).every(isAllUndone) ? progress.compensate : undefined
  }
}

/** Tells whether an action is still under way whose answer may have a value that this compensation uses. */
function awaitsValues({ definition, branches }: Aborting, branch: number): boolean {
  const target = definition.branches[branch]
  if (target?.compensationContent === undefined) return false
  return listProducers(target).some((producer) => branches[producer]?.action.state === 'calling')
}

/**
 * Returns a function that tells whether nothing is left to undo of a branch and of all that came after it. The function
 * remembers its results, since many paths lead through a dense graph.
 */
function makeUndoneCheck(saga: Aborting): (branch: number) => boolean {
  const known = new Map<number, boolean>()
  const isAllUndone = (branch: number): boolean => {
    const before = known.get(branch)
    if (before !== undefined) return before
    const undone =
      isUndone(saga, branch) &&
      (wasUndoneInOrder(saga, branch) || findSuccessors(saga, branch).every(isAllUndone))
    known.set(branch, undone)
    return undone
  }
  return isAllUndone
}

/** Whether nothing of this branch itself is left to undo. The branches that came after it do not matter here. */
export function isUndone(saga: Aborting, branch: number): boolean {
  const progress = saga.branches[branch]
  if (progress === undefined || !saga.abort.branches.includes(branch)) return true
  if (progress.action.state === 'calling') return false
  return isCompensated(saga, branch) || saga.definition.branches[branch]?.compensation === undefined
}

/** An answer came after all that is later was undone. A person may declare a compensation done at any time. */
function wasUndoneInOrder(saga: Aborting, branch: number): boolean {
  return isCompensated(saga, branch) && saga.branches[branch]?.compensate.byHand === undefined
}

function isCompensated(saga: Aborting, branch: number): boolean {
  return saga.branches[branch]?.compensate.state === 'succeeded'
}
