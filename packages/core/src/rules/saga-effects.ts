/**
 * Finds the calls that a saga needs next. Forward, it calls a branch whose predecessors have all succeeded. Backward, it
 * compensates a branch when nothing that came after the branch is left to undo.
 */

import { isFinal, type OpProgress, type SagaOp, type SagaTransaction } from '../transaction.ts'
import { findUnusableValue, listProducers } from '../values/build-request.ts'
import type { TransactionEffect } from './events.ts'
import { PARKED_OP_AT } from './op-progress.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>

/**
 * Returns what the saga needs at this instant. It is derived from the state
 * alone, so nothing is forgotten when a save fails.
 */
export function sagaEffects(saga: SagaTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(saga)) return []
  const startAt = saga.createdAt + (saga.definition.delayMs ?? 0)
  if (saga.status === 'submitted' && now < startAt) {
    return [{ type: 'wake-at', at: Math.min(startAt, deadlineAt(saga) ?? startAt) }]
  }
  const effects: TransactionEffect[] = []
  const op = saga.status === 'submitted' ? 'action' : 'compensate'
  const next = saga.status === 'submitted' ? makeActionChooser(saga) : makeCompensationChooser(saga)
  let wakeAt = saga.status === 'submitted' && !awaitsLastActions(saga, now) ? deadlineAt(saga) : undefined
  for (let branch = 0; branch < saga.branches.length; branch++) {
    const progress = next(branch)
    if (progress === undefined) continue
    const nextAt = findNextAt(saga, branch, op, progress)
    if (nextAt !== undefined && nextAt > now) wakeAt = Math.min(wakeAt ?? nextAt, nextAt)
    else effects.push({ type: 'call', call: { branch, op } })
  }
  if (wakeAt !== undefined) effects.push({ type: 'wake-at', at: wakeAt })
  return effects
}

/** Finds when an op may be called. Returns undefined for now. A request that cannot be built waits for an operator. */
function findNextAt(
  saga: SagaTransaction,
  branch: number,
  op: SagaOp,
  { state, nextAt }: OpProgress,
): number | undefined {
  if (state === 'waiting') return nextAt
  const isBuildable =
    saga.definition.values === undefined || findUnusableValue(saga, branch, op) === undefined
  return isBuildable ? undefined : PARKED_OP_AT
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
 * An action that has not been sent by the deadline is not sent any more, even while the last actions are waited for.
 */
export function isOverdue(saga: SagaTransaction, now: number): boolean {
  const deadline = deadlineAt(saga)
  return deadline !== undefined && now >= deadline
}

/** Returns the op of a branch that is to be called, now or at its `nextAt`. Undefined: there is none. */
export type NextOp = (branch: number) => OpProgress | undefined

export function makeActionChooser(saga: Submitted): NextOp {
  return (branch) => {
    const action = saga.branches[branch]?.action
    if (action === undefined || (action.state !== 'idle' && action.state !== 'waiting')) return undefined
    const predecessors = saga.definition.branches[branch]?.after ?? []
    return predecessors.every((before) => hasSucceeded(saga, before)) ? action : undefined
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

function hasSucceeded(saga: SagaTransaction, branch: number): boolean {
  return saga.branches[branch]?.action.state === 'succeeded'
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
      (isCompensated(saga, branch) || findSuccessors(saga, branch).every(isAllUndone))
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

function isCompensated(saga: Aborting, branch: number): boolean {
  return saga.branches[branch]?.compensate.state === 'succeeded'
}

function findSuccessors(saga: SagaTransaction, branch: number): number[] {
  const later: number[] = []
  saga.definition.branches.forEach((candidate, position) => {
    if (candidate.after.includes(branch)) later.push(position)
  })
  return later
}
