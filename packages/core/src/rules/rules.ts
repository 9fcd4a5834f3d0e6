/**
 * The rules of every kind of transaction: how an event changes it, how
 * durable the change must be, and what it needs next.
 */
import { assert } from '../errors.ts'
import {
  getBranchTargets,
  isFinal,
  type MessageTransaction,
  type SagaTransaction,
  type Transaction,
  type TwoPhaseTransaction,
  type WorkflowTransaction,
} from '../transaction.ts'
import type { TransactionEvent } from './events.ts'
import type { FoldedTransaction, Rules } from './fold.ts'
import { foldMessage, messageEffects } from './message.ts'
import { foldWithTrail, isGiven } from './operator-commands.ts'
import { isPaused, pausedEffects } from './pause.ts'
import { foldRecorded, recordedEffects } from './recorded.ts'
import { foldSaga } from './saga.ts'
import { sagaEffects } from './saga-effects.ts'
import { haveAllSucceeded } from './saga-graph.ts'
import { foldTwoPhase, twoPhaseEffects } from './two-phase.ts'
import { foldWorkflow } from './workflow.ts'
import { workflowEffects } from './workflow-effects.ts'
import { isDone } from './workflow-steps.ts'

export type { FoldedTransaction, Rules } from './fold.ts'

export const RULES: Rules = {
  fold(transaction, event, now) {
    return transaction.trail === undefined && !isGiven(event)
      ? foldKind(transaction, event, now)
      : foldWithTrail(foldKind, transaction, event, now)
  },
  effects(transaction, now) {
    if (transaction.paused !== undefined && isPaused(transaction, now)) return pausedEffects(transaction)
    switch (transaction.kind) {
      case 'saga':
        return sagaEffects(transaction, now)
      case 'tcc':
      case 'xa':
        return twoPhaseEffects(transaction, now)
      case 'message':
        return messageEffects(transaction, now)
      case 'workflow':
        return workflowEffects(transaction, now)
      case 'recorded':
        return recordedEffects(transaction, now)
    }
  },
}

function foldKind(transaction: Transaction, event: TransactionEvent, now: number): FoldedTransaction {
  switch (transaction.kind) {
    case 'saga':
      return foldSaga(transaction, event, now)
    case 'tcc':
    case 'xa':
      return foldTwoPhase(transaction, event, now)
    case 'message':
      return foldMessage(transaction, event, now)
    case 'workflow':
      return foldWorkflow(transaction, event, now)
    case 'recorded':
      return foldRecorded(transaction, event, now)
  }
}

/** Throws an AssertionError when the rules exclude the state. */
export function assertValid(transaction: Transaction): void {
  assert(transaction.branches.length === getBranchTargets(transaction).length, 'a branch has no progress')
  assert(
    !isFinal(transaction) || transaction.attention === undefined,
    'a final transaction needs no attention',
  )
  assert(!isFinal(transaction) || transaction.paused === undefined, 'a final transaction is paused')
  assert(
    transaction.trail !== undefined || (transaction.paused ?? transaction.edits) === undefined,
    'a change by an operator without a trail',
  )
  switch (transaction.kind) {
    case 'saga':
      assertValidSaga(transaction)
      break
    case 'tcc':
    case 'xa':
      assertValidTwoPhase(transaction)
      break
    case 'message':
      assertValidMessage(transaction)
      break
    case 'workflow':
      assertValidWorkflow(transaction)
      break
    case 'recorded':
      assert(
        transaction.result === undefined || transaction.status === 'succeeded',
        'a result without a success',
      )
  }
}

function assertValidSaga(saga: SagaTransaction): void {
  const { status, definition, branches, noReturnAt } = saga
  const forward = status === 'submitted' || status === 'succeeded'
  for (const progress of branches) {
    assert(!forward || progress.compensate.attempts === 0, 'compensated without an abort decision')
  }
  definition.branches.forEach(({ wait, role }, branch) => {
    const attempts = branches[branch]?.action.attempts ?? 0
    assert(wait === undefined || attempts === 0, 'a wait was called')
    assert(
      !forward || role === undefined || attempts === 0 || noReturnAt !== undefined,
      'a branch that cannot be undone was called without the mark of no return',
    )
  })
  assert(status !== 'aborting' || noReturnAt === undefined, 'aborting after the point of no return')
  if (status === 'succeeded') {
    assert(haveAllSucceeded(saga), 'succeeded with a branch that has not')
  }
  if (status === 'failed') {
    assert(
      !branches.some((progress) => progress.action.state === 'calling'),
      'failed with an action in flight',
    )
  }
}

function assertValidTwoPhase(transaction: TwoPhaseTransaction): void {
  const { status, branches } = transaction
  for (const progress of branches) {
    const [confirm, cancel] =
      'confirm' in progress ? [progress.confirm, progress.cancel] : [progress.commit, progress.rollback]
    assert(confirm.attempts === 0 || cancel.attempts === 0, 'a branch was both confirmed and cancelled')
    assert(status !== 'prepared' || confirm.attempts + cancel.attempts === 0, 'decided before the client was')
    assert(
      status !== 'succeeded' || confirm.state === 'succeeded',
      'succeeded with a branch that is not confirmed',
    )
    assert(status !== 'failed' || cancel.state === 'succeeded', 'failed with a branch that is not cancelled')
  }
}

function assertValidMessage({ status, check, branches }: MessageTransaction): void {
  assert(
    status !== 'prepared' || branches.every(({ action }) => action.attempts === 0),
    'delivered before it was submitted',
  )
  assert(status !== 'submitted' || check.state !== 'calling', 'asked after it was submitted')
  assert(
    status !== 'succeeded' || branches.every(({ action }) => action.state === 'succeeded'),
    'succeeded with a branch that has not',
  )
}

function assertValidWorkflow(workflow: WorkflowTransaction): void {
  const { status, branches, order, plan } = workflow
  const forward = status === 'submitted' || status === 'succeeded'
  for (const { action, compensate } of branches) {
    assert(
      !forward || compensate.attempts === 0 || action.state === 'failed',
      'compensated without an abort decision and without a failure',
    )
  }
  assert(status !== 'aborting' || workflow.noReturnAt === undefined, 'aborting after the point of no return')
  assert(
    status === 'submitted' || status === 'aborting' || plan.call.state !== 'calling',
    'planned after the end',
  )
  assert(status !== 'aborting' || plan.call.state !== 'waiting', 'a plan is to be made after the turn')
  assert(
    (workflow.granted === undefined) === (workflow.definition.grants === undefined),
    'slots without a grant',
  )
  assert(plan.seen <= order.length, 'a plan has seen more than there is')
  assert(workflow.seenAt.length === plan.seen, 'what a plan has seen has no instant')
  assert(new Set(order).size === order.length, 'a step has ended twice')
  assert(status !== 'succeeded' || isDone(workflow), 'succeeded with something left to do')
}
