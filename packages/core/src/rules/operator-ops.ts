/** Finds the op that a command names, and says whether it may be skipped, edited or retried now. */
import { OWN_CALL_ID } from '@counterstep/protocol'
import type { Wait } from '../definition.ts'
import { changesEffect } from '../record/edits.ts'
import {
  type CalledOp,
  getBranchTargets,
  type OpProgress,
  type SagaTransaction,
  type Transaction,
  type WorkflowTransaction,
} from '../transaction.ts'
import { JOURNAL_FULL } from '../values/keep-values.ts'
import type { CallKey, OpCommand, OpName } from './events.ts'
import { CHECK, findOp } from './op-progress.ts'
import { havePredecessorsSucceeded } from './saga-graph.ts'
import { giveAnswer } from './skip-op.ts'

/** The one text by which an operator confirms that no call of an op took effect. */
export const CONFIRMATION = 'no-call-took-effect'

/**
 * `op-unknown`: the transaction has no such op. `op-done`: it has succeeded. `op-not-due`: the command is not for this op,
 * or not yet, or not any more. `op-busy`: its call is under way. `confirmation-required`: an attempt may have taken effect.
 * `answer-too-large`: a workflow cannot keep the answer that a person gives either. `answer-required`: a person has to give it.
 */
export type OpRefusal =
  | 'op-unknown'
  | 'op-done'
  | 'op-not-due'
  | 'op-busy'
  | 'confirmation-required'
  | 'answer-too-large'
  | 'answer-required'

export interface FoundOp {
  readonly call: CallKey
  readonly progress: OpProgress
}

export function findNamedOp(transaction: Transaction, { branchId, op }: OpName): FoundOp | undefined {
  const hasCheck = transaction.kind === 'message' || transaction.kind === 'recorded'
  const isCheck = hasCheck && op === 'msg' && branchId === OWN_CALL_ID
  const branch = isCheck ? CHECK : getBranchTargets(transaction).findIndex(({ id }) => id === branchId)
  if ((branch === -1 && !isCheck) || !hasOp(transaction, branch, op)) return undefined
  const call = { branch, op: op as CalledOp }
  const progress = findOp(transaction, call)
  return progress === undefined ? undefined : { call, progress }
}

const OPS_OF: Readonly<Record<Transaction['kind'], readonly string[]>> = {
  saga: ['action', 'compensate'],
  tcc: ['confirm', 'cancel'],
  xa: ['commit', 'rollback'],
  message: ['action', 'msg'],
  // Its steps are the code's, so a person only ends a timer, or gives an answer that came and was lost.
  workflow: ['action'],
  recorded: ['msg'],
}

/** A compensation that does not exist has progress too, but no URL. The op is a caller's text. */
function hasOp(transaction: Transaction, branch: number, op: string): boolean {
  if (!OPS_OF[transaction.kind].includes(op) || (op === 'msg') !== (branch === CHECK)) return false
  if (transaction.kind === 'saga' && op === 'compensate')
    return transaction.definition.branches[branch]?.compensation !== undefined
  if (transaction.kind === 'message' && branch === CHECK) return transaction.definition.check !== undefined
  return true
}

/** The transaction is not final. */
export function refuseOp(transaction: Transaction, command: OpCommand): OpRefusal | undefined {
  const found = findNamedOp(transaction, command)
  if (found === undefined) return 'op-unknown'
  const { progress, call } = found
  if (progress.state === 'succeeded' && !isAnswerLost(transaction, progress)) return 'op-done'
  if (!isDue(transaction, call, progress, command)) return 'op-not-due'
  if (command.type === 'retry-op-asked') return undefined
  if (transaction.kind === 'workflow') return refuseAnswer(transaction, found, command)
  if (progress.state === 'calling') return 'op-busy'
  return needsConfirmation(transaction, progress, command) && command.given.confirm !== CONFIRMATION
    ? 'confirmation-required'
    : undefined
}

/** Tells whether the call has succeeded with an answer which the journal of its workflow could not take. */
function isAnswerLost({ kind }: Transaction, { state, error }: OpProgress): boolean {
  return kind === 'workflow' && state === 'succeeded' && error === JOURNAL_FULL
}

function refuseAnswer(
  workflow: WorkflowTransaction,
  { call, progress }: FoundOp,
  command: OpCommand,
): OpRefusal | undefined {
  if (command.type !== 'skip-asked' || !isAnswerLost(workflow, progress)) return undefined
  // The code must not go on with nothing in place of what a service has answered.
  if (command.answer === undefined) return 'answer-required'
  const { error } = giveAnswer(workflow, call.branch, progress, command.answer)
  return error === JOURNAL_FULL ? 'answer-too-large' : undefined
}

function isDue(transaction: Transaction, call: CallKey, progress: OpProgress, command: OpCommand): boolean {
  if (call.branch === CHECK) return command.type === 'retry-op-asked' && transaction.status === 'prepared'
  switch (transaction.kind) {
    case 'saga':
      return isSagaOpDue(transaction, call, progress, command)
    case 'tcc':
    case 'xa': {
      const status = call.op === 'confirm' || call.op === 'commit' ? 'submitted' : 'aborting'
      return (
        transaction.status === status || (command.type === 'edit-asked' && transaction.status === 'prepared')
      )
    }
    case 'message':
      return transaction.status === 'submitted' || command.type === 'edit-asked'
    case 'workflow': {
      if (transaction.status !== 'submitted' || command.type !== 'skip-asked') return false
      const isTimer = isOpenTimer(transaction.steps[call.branch]?.branch.wait, progress)
      // The code got no answer of a call that did its work, so its service has done it, and no person.
      return isTimer || (isAnswerLost(transaction, progress) && command.doneBy === 'service')
    }
    case 'recorded':
      return false
  }
}

function isSagaOpDue(
  saga: SagaTransaction,
  { branch, op }: CallKey,
  progress: OpProgress,
  { type }: Pick<OpCommand, 'type'>,
): boolean {
  const { state } = progress
  const wait = saga.definition.branches[branch]?.wait
  if (wait !== undefined)
    return saga.status === 'submitted' && type === 'skip-asked' && isOpenTimer(wait, progress)
  if (op === 'action') {
    if (saga.status !== 'submitted') return false
    return type !== 'skip-asked' || havePredecessorsSucceeded(saga, branch)
  }
  if (state === 'by-hand' && type !== 'skip-asked') return false
  if (saga.status === 'submitted') return type === 'edit-asked'
  return saga.status === 'aborting' && saga.abort.branches.includes(branch)
}

/** A wait calls nothing. A timer that has opened may be ended by a person, and a wait for a signal by the signal. */
function isOpenTimer(wait: Wait | undefined, { state }: OpProgress): boolean {
  return wait !== undefined && wait.type !== 'signal' && state === 'open'
}

/**
 * A skip by hand beside a call that took effect would do the work twice, and so would an edited call without a barrier. A
 * compensation that is by hand was never called, and neither was a timer.
 */
function needsConfirmation(
  { sentUnknown }: Transaction,
  { attempts, state }: OpProgress,
  command: Exclude<OpCommand, { readonly type: 'retry-op-asked' }>,
): boolean {
  const mayHaveRun = state !== 'by-hand' && state !== 'open' && (attempts > 0 || sentUnknown)
  if (!mayHaveRun) return false
  return command.type === 'skip-asked' ? command.doneBy === 'hand' : changesEffect(command.edit)
}
