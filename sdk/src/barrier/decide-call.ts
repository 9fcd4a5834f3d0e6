import type { JsonValue, Op } from '@counterstep/protocol'
import {
  type BarrierDecision,
  type BarrierRow,
  decideBarrier,
  decideReuse,
  findOriginOp,
  isOfOtherTransaction,
  mustRollBack,
  type ReuseDecision,
} from '@counterstep/protocol/barrier'
import { BranchError, BranchFailure } from '../branch/branch-errors.ts'
import type { BarrierOutcome } from './barrier.ts'
import { EMPTY_ANSWER, readStoredAnswer } from './stored-answer.ts'

/** A row that stood already, with its stored answer. */
export interface StandingRow extends BarrierRow {
  /**
   * The answer is null in the two rows of a null compensation, and in the row of an effect that never came to its end.
   */
  readonly answer: string | null
}

/** The ops whose rows were new when one call inserted its rows. A driver, or a group of calls, reports them. */
export type InsertedOps = ReadonlySet<Op>

export type CallDecision = BarrierDecision | ReuseDecision

/**
 * Decides a call by the rule of the barrier, from the findings of a driver. `standing` matters only where
 * `needsStanding` says so. `since` comes from `computeRowInstants` of the call: rows with an earlier instant belong to
 * another transaction.
 */
export function decideCall(
  op: Op,
  inserted: InsertedOps,
  standing: readonly BarrierRow[],
  since: number,
): CallDecision {
  const reuse = decideReuse(op, standing, since)
  if (reuse !== undefined) return reuse
  if (!inserted.has(op)) {
    const ofTransaction = standing.filter((row) => !isOfOtherTransaction(row, since))
    return decideBarrier(op, { ownInserted: false, standing: ofTransaction })
  }
  const origin = findOriginOp(op)
  return decideBarrier(op, {
    ownInserted: true,
    originInserted: origin !== undefined && inserted.has(origin),
  })
}

/** Tells whether the standing rows have to be read, for the first answer or to see what there is to undo. */
export function needsStanding(op: Op, inserted: InsertedOps): boolean {
  const origin = findOriginOp(op)
  return !inserted.has(op) || (origin !== undefined && !inserted.has(origin))
}

/**
 * Tells whether the call's own row, which it has inserted, must be removed again. If that row stayed, the undo of the
 * other transaction, which made the origin's row, would be taken for a repetition and would never run.
 */
export function mustRemoveOwn(op: Op, decision: CallDecision, inserted: InsertedOps): boolean {
  return decision === 'nothing-to-undo' && inserted.has(op)
}

/**
 * Returns the outcome of a call whose effect must not run, or undefined if it must run. Throws BARRIER_TRANSACTION_LOST
 * for a row that was committed without its effect: to answer success would report an effect that never happened, and to
 * undo it would pay back what was never taken. Throws MESSAGE_DUPLICATED or MESSAGE_REFUSED for a message's local
 * transaction that must not commit, GID_REUSED or BARRIER_UNDO_IN_THE_WAY for a row of another transaction, and
 * BARRIER_ORIGINAL_MISSING for an undo that must have something to undo, and has not.
 */
export function settleWithoutEffect(
  op: Op,
  decision: CallDecision,
  standing: readonly StandingRow[],
  mustUndo = false,
): BarrierOutcome | undefined {
  if (mustUndo && isNothingToUndo(decision)) throw toOriginalMissingError(op)
  if (isReuse(decision)) return settleReuse(op, decision)
  if (decision === 'run') {
    const origin = standing.find((row) => row.op === findOriginOp(op))
    if (origin !== undefined && isUnfinished(origin)) throw toNothingToUndoError(op)
    return undefined
  }
  if (decision !== 'duplicate') {
    if (mustRollBack(op, decision)) throw toMessageError(decision)
    return { decision }
  }
  const own = standing.find((row) => row.op === op)
  if (own !== undefined && isUnfinished(own) && !isNullCompensation(op, standing)) throw toUnfinishedError(op)
  if (mustRollBack(op, decision)) throw toMessageError(decision)
  return toOutcome(decision, own?.answer ?? EMPTY_ANSWER)
}

/**
 * Returns the first answer of the op that this op undoes. The answer stands only in the row of that op, with the same
 * branch and the same barrier id. It is undefined where the answer was empty, and for an op that undoes no other.
 */
export function findOriginal(op: Op, standing: readonly StandingRow[]): JsonValue | undefined {
  const origin = findOriginOp(op)
  return readStoredAnswer(standing.find((row) => row.op === origin)?.answer)
}

/** Tells whether a row was committed without its effect. */
export function isUnfinished({ op, reason, answer }: StandingRow): boolean {
  return reason === op && answer === null
}

export function isNothingToUndo(decision: CallDecision): boolean {
  return decision === 'null-compensation' || decision === 'nothing-to-undo'
}

export function toOriginalMissingError(op: Op): BranchError {
  const message = `the ${findOriginOp(op)} was answered with success, and this ${op} finds no row of it: both must pass one barrier table, whose rows must stand`
  return new BranchError('BARRIER_ORIGINAL_MISSING', message)
}

/** Tells whether an undo had nothing to undo. Such an undo ran no effect, and so it has no answer. */
function isNullCompensation(op: Op, standing: readonly BarrierRow[]): boolean {
  const origin = findOriginOp(op)
  return origin !== undefined && standing.some((row) => row.op === origin && row.reason === op)
}

function toUnfinishedError(op: Op): BranchError {
  const message = `the row of this ${op} was committed, but its effect never came to its end: the effect or its caller committed`
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}

/**
 * Returns the outcome of a call that meets a row of another transaction with the same gid. Throws GID_REUSED and
 * BARRIER_UNDO_IN_THE_WAY.
 */
export function settleReuse(op: Op, decision: ReuseDecision): BarrierOutcome {
  switch (decision) {
    case 'nothing-to-undo':
      return { decision: 'null-compensation' }
    case 'gid-reused':
      throw toGidReusedError(op)
    case 'undo-in-the-way':
      throw toUndoInTheWayError(op)
  }
}

function isReuse(decision: CallDecision): decision is ReuseDecision {
  return decision === 'gid-reused' || decision === 'nothing-to-undo' || decision === 'undo-in-the-way'
}

/**
 * A confirm gets this failure, too. It is then asked again and draws attention, because its try was refused or never
 * made.
 */
function toGidReusedError(op: Op): BranchFailure {
  const message = `the row of this ${op} is an earlier transaction's: the gid was used before`
  return new BranchFailure(message, { code: 'GID_REUSED' })
}

function toUndoInTheWayError(op: Op): BranchError {
  const message = `the row of this ${op} is an earlier transaction's of the same gid: it can run when that is purged`
  return new BranchError('BARRIER_UNDO_IN_THE_WAY', message)
}

/**
 * Makes the error of a message's local transaction that must roll back, together with all else that its sender has
 * written in it.
 */
export function toMessageError(decision: BarrierDecision): BranchError {
  return decision === 'duplicate'
    ? new BranchError('MESSAGE_DUPLICATED', 'the local transaction of this message has committed before')
    : new BranchError(
        'MESSAGE_REFUSED',
        'the message was asked about before its local transaction, and is dropped',
      )
}

/** Makes the error of an undo whose origin's row was committed without its effect. */
function toNothingToUndoError(op: Op): BranchError {
  const message = `the row of the ${findOriginOp(op)} was committed without its effect: a person must find out what the ${op} has to undo`
  return new BranchError('BARRIER_TRANSACTION_LOST', message)
}

export function toOutcome(decision: BarrierDecision, answer: string): BarrierOutcome {
  return answer === EMPTY_ANSWER ? { decision } : { decision, answer }
}
