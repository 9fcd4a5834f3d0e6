/**
 * Skips an op: a person says that it is done, and the transaction goes on as if it had answered so. It ends by the rules
 * alone. Nothing is decided here that follows from the time, because a node may skip an op of a row that it does not run.
 */
import type { ByHandView } from '@counterstep/protocol'
import {
  getBranchTargets,
  type MessageTransaction,
  type OpProgress,
  type SagaTransaction,
  type Transaction,
  type WorkflowTransaction,
} from '../transaction.ts'
import { succeedWithValues } from '../values/keep-values.ts'
import type { CallKey } from './events.ts'
import { withOp, withoutAttention, withoutNextAt } from './op-progress.ts'
import { haveAllSucceeded } from './saga-graph.ts'
import { finishDecided } from './two-phase.ts'
import { toSaga, withEnds } from './workflow-steps.ts'

export interface Skip {
  readonly call: CallKey
  readonly doneBy: ByHandView['doneBy']
  readonly answer: string | undefined
}

export function skipOp(transaction: Transaction, before: OpProgress, skip: Skip, now: number): Transaction {
  const { call, doneBy, answer } = skip
  const done: OpProgress = {
    ...withoutNextAt(before),
    state: 'succeeded',
    byHand: { at: now, doneBy },
  }
  if (transaction.kind === 'workflow')
    return withEnds(withOp(transaction, call, giveAnswer(transaction, call.branch, done, answer)))
  if (transaction.kind !== 'saga' || call.op !== 'action') return withOp(transaction, call, done)
  const next = withOp(transaction, call, succeedWithValues(transaction, call.branch, done, answer))
  return isCompensable(next, call.branch) || next.noReturnAt !== undefined
    ? next
    : { ...next, noReturnAt: now }
}

/** Returns a step as if it had this answer, with an error if the journal has no room for that. */
export function giveAnswer(
  workflow: WorkflowTransaction,
  branch: number,
  { error: _, ...progress }: OpProgress,
  answer: string | undefined,
): OpProgress {
  return succeedWithValues(toSaga(workflow), branch, progress, answer)
}

/** A pivot or a retriable that is done cannot be undone, by the service or by hand. So the saga only goes forward from here. */
function isCompensable({ definition }: SagaTransaction, branch: number): boolean {
  return definition.branches[branch]?.role === undefined
}

/** Ends the transaction if the skipped op was the last one. */
export function finishAfterSkip(transaction: Transaction, now: number): Transaction {
  const ended = { finishedAt: now, updatedAt: now }
  switch (transaction.kind) {
    case 'saga':
      return finishSaga(transaction, ended)
    case 'tcc':
    case 'xa':
      return transaction.status === 'submitted' || transaction.status === 'aborting'
        ? finishDecided(transaction, now)
        : transaction
    case 'message':
      return transaction.status === 'submitted' && isDelivered(transaction)
        ? { ...withoutAttention(transaction), status: 'succeeded', ...ended }
        : transaction
    case 'workflow':
    case 'recorded':
      return transaction
  }
}

type End = Pick<Extract<SagaTransaction, { readonly finishedAt: number }>, 'finishedAt' | 'updatedAt'>

function finishSaga(saga: SagaTransaction, ended: End): SagaTransaction {
  if (saga.status === 'submitted' && haveAllSucceeded(saga))
    return { ...withoutAttention(saga), status: 'succeeded', ...ended }
  // The abort decision may not be durable yet, so its end is decided by the next step that finds it durable.
  return saga
}

function isDelivered({ branches }: MessageTransaction): boolean {
  return branches.every(({ action }) => action.state === 'succeeded')
}

/**
 * Gives each compensation to a person whose action a person did elsewhere. It is never called, and the transaction asks for
 * a person until it is skipped too.
 */
export function askForHands(transaction: Transaction): Transaction {
  if (transaction.kind !== 'saga' || transaction.status !== 'aborting') return transaction
  const waiting = transaction.abort.branches.filter((branch) => isForHands(transaction, branch))
  if (waiting.length === 0) return transaction
  let next: SagaTransaction = transaction
  for (const branch of waiting) {
    const compensate = transaction.branches[branch]?.compensate
    if (compensate?.state === 'idle')
      next = withOp(next, { branch, op: 'compensate' }, { ...compensate, state: 'by-hand' })
  }
  if (next.attention !== undefined) return next
  const ids = waiting.map((branch) => getBranchTargets(next)[branch]?.id ?? branch).join(', ')
  return { ...next, attention: `compensation of branch ${ids} is for a person: its action was done by hand` }
}

function isForHands({ branches, definition }: SagaTransaction, branch: number): boolean {
  const progress = branches[branch]
  if (progress === undefined || definition.branches[branch]?.compensation === undefined) return false
  return progress.action.byHand?.doneBy === 'hand' && progress.compensate.state !== 'succeeded'
}
