/**
 * What a saga wants, derived from what it is. Forward: a branch whose predecessors have all succeeded. Backward:
 * a branch after which nothing is left to undo.
 */

import { isFinal, type OpProgress, type SagaTransaction } from '../transaction.ts'
import type { TransactionEffect } from './events.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<SagaTransaction, { readonly status: 'aborting' }>

/** What the saga wants at this instant, derived from what it is, so that nothing is forgotten when a save fails. */
export function sagaEffects(saga: SagaTransaction, now: number): readonly TransactionEffect[] {
  if (isFinal(saga)) return []
  const startAt = saga.createdAt + (saga.definition.delayMs ?? 0)
  if (saga.status === 'submitted' && now < startAt) {
    return [{ type: 'wake-at', at: Math.min(startAt, deadlineAt(saga) ?? startAt) }]
  }
  const effects: TransactionEffect[] = []
  const op = saga.status === 'submitted' ? 'action' : 'compensate'
  const next = saga.status === 'submitted' ? actions(saga) : compensations(saga)
  let wakeAt = saga.status === 'submitted' && !awaitsLastActions(saga, now) ? deadlineAt(saga) : undefined
  for (let branch = 0; branch < saga.branches.length; branch++) {
    const progress = next(branch)
    if (progress === undefined) continue
    if (progress.state === 'waiting' && progress.nextAt !== undefined && progress.nextAt > now) {
      wakeAt = Math.min(wakeAt ?? progress.nextAt, progress.nextAt)
    } else effects.push({ type: 'call', call: { branch, op } })
  }
  if (wakeAt !== undefined) effects.push({ type: 'wake-at', at: wakeAt })
  return effects
}

export function deadlineAt(saga: SagaTransaction): number | undefined {
  const { deadlineMs } = saga.definition
  return deadlineMs === undefined ? undefined : saga.createdAt + deadlineMs
}

/**
 * Whether the deadline has passed and does not turn the saga around yet. Each call ends by its own time-out, so this
 * does, and an answer that is no success leaves an action that is neither under way nor done.
 */
export function awaitsLastActions(saga: Submitted, now: number): boolean {
  if (saga.definition.lastActionsMayEndLate !== true || !isOverdue(saga, now)) return false
  return saga.branches.every(({ action }) => action.state === 'succeeded' || action.state === 'calling')
}

/** An action that has waited for its turn until then is not sent any more, whatever is waited for. */
export function isOverdue(saga: SagaTransaction, now: number): boolean {
  const deadline = deadlineAt(saga)
  return deadline !== undefined && now >= deadline
}

/** Of a branch: its op that is to be called, now or at its `nextAt`; undefined when there is none. */
type NextOp = (branch: number) => OpProgress | undefined

function actions(saga: Submitted): NextOp {
  return (branch) => {
    const action = saga.branches[branch]?.action
    if (action === undefined || (action.state !== 'idle' && action.state !== 'waiting')) return undefined
    const predecessors = saga.definition.branches[branch]?.after ?? []
    return predecessors.every((before) => hasSucceeded(saga, before)) ? action : undefined
  }
}

function compensations(saga: Aborting): NextOp {
  const isAllUndone = undoneBranches(saga)
  return (branch) => {
    const progress = saga.branches[branch]
    if (progress === undefined || isUndone(saga, branch)) return undefined
    // The own action call must have ended, or its effect could come after the compensation's.
    if (progress.action.state === 'calling' || progress.compensate.state === 'calling') return undefined
    return successors(saga, branch).every(isAllUndone) ? progress.compensate : undefined
  }
}

function hasSucceeded(saga: SagaTransaction, branch: number): boolean {
  return saga.branches[branch]?.action.state === 'succeeded'
}

/**
 * Tells of a branch whether nothing of it, nor of what came after it, is left to undo. Remembers what it has found,
 * since many paths lead through a dense graph.
 */
function undoneBranches(saga: Aborting): (branch: number) => boolean {
  const known = new Map<number, boolean>()
  const isAllUndone = (branch: number): boolean => {
    const before = known.get(branch)
    if (before !== undefined) return before
    const undone =
      isUndone(saga, branch) && (isCompensated(saga, branch) || successors(saga, branch).every(isAllUndone))
    known.set(branch, undone)
    return undone
  }
  return isAllUndone
}

/** Nothing of this branch is left to undo, whatever came after it. */
export function isUndone(saga: Aborting, branch: number): boolean {
  const progress = saga.branches[branch]
  if (progress === undefined || !saga.abort.branches.includes(branch)) return true
  if (progress.action.state === 'calling') return false
  return isCompensated(saga, branch) || saga.definition.branches[branch]?.compensation === undefined
}

function isCompensated(saga: Aborting, branch: number): boolean {
  return saga.branches[branch]?.compensate.state === 'succeeded'
}

function successors(saga: SagaTransaction, branch: number): number[] {
  const later: number[] = []
  saga.definition.branches.forEach((candidate, position) => {
    if (candidate.after.includes(branch)) later.push(position)
  })
  return later
}
