/** Finds the op that a command names, and says whether it may be skipped, edited or retried now. */
import { OWN_CALL_ID } from '@counterstep/protocol'
import { changesEffect } from '../record/edits.ts'
import {
  type CalledOp,
  getBranchTargets,
  type OpProgress,
  type SagaTransaction,
  type Transaction,
} from '../transaction.ts'
import type { CallKey, OpCommand, OpName } from './events.ts'
import { CHECK, findOp } from './op-progress.ts'
import { havePredecessorsSucceeded } from './saga-graph.ts'

/** The one text by which an operator confirms that no call of an op took effect. */
export const CONFIRMATION = 'no-call-took-effect'

/**
 * `op-unknown`: the transaction has no such op. `op-done`: it has succeeded. `op-not-due`: the command is not for this op,
 * or not yet, or not any more. `op-busy`: its call is under way. `confirmation-required`: an attempt may have taken effect.
 */
export type OpRefusal = 'op-unknown' | 'op-done' | 'op-not-due' | 'op-busy' | 'confirmation-required'

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
  // Its steps are the code's, so what a person would say of them is not what the code has planned.
  workflow: [],
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
  if (progress.state === 'succeeded') return 'op-done'
  if (!isDue(transaction, call, progress, command)) return 'op-not-due'
  if (command.type === 'retry-op-asked') return undefined
  if (progress.state === 'calling') return 'op-busy'
  return needsConfirmation(transaction, progress, command) && command.given.confirm !== CONFIRMATION
    ? 'confirmation-required'
    : undefined
}

function isDue(
  transaction: Transaction,
  call: CallKey,
  progress: OpProgress,
  command: Pick<OpCommand, 'type'>,
): boolean {
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
    case 'workflow':
    case 'recorded':
      return false
  }
}

function isSagaOpDue(
  saga: SagaTransaction,
  { branch, op }: CallKey,
  { state }: OpProgress,
  { type }: Pick<OpCommand, 'type'>,
): boolean {
  // A wait is ended by its time or by its signal, and calls nothing.
  if (saga.definition.branches[branch]?.wait !== undefined) return false
  if (op === 'action') {
    if (saga.status !== 'submitted') return false
    return type !== 'skip-asked' || havePredecessorsSucceeded(saga, branch)
  }
  if (state === 'by-hand' && type !== 'skip-asked') return false
  if (saga.status === 'submitted') return type === 'edit-asked'
  return saga.status === 'aborting' && saga.abort.branches.includes(branch)
}

/**
 * A skip by hand beside a call that took effect would do the work twice, and so would an edited call without a barrier. A
 * compensation that is by hand was never called.
 */
function needsConfirmation(
  { sentUnknown }: Transaction,
  { attempts, state }: OpProgress,
  command: Exclude<OpCommand, { readonly type: 'retry-op-asked' }>,
): boolean {
  const mayHaveRun = state !== 'by-hand' && (attempts > 0 || sentUnknown)
  if (!mayHaveRun) return false
  return command.type === 'skip-asked' ? command.doneBy === 'hand' : changesEffect(command.edit)
}
