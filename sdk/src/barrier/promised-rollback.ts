import { BranchError, isBranchFailure, isBranchOngoing } from '../branch/branch-errors.ts'

/**
 * Tells whether an error is an answer that says that nothing was done. It is true only if the transaction of the effect
 * was there to be rolled back.
 */
export function promisesRollback(error: unknown): boolean {
  return isBranchFailure(error) || isBranchOngoing(error)
}

/** Makes the error for such an answer of an effect that had ended its transaction, so that what it wrote may stand. */
export function toNotRolledBackError(answer: unknown): BranchError {
  const message =
    'the effect ended the transaction that it ran in, so that what it wrote before is not undone'
  return new BranchError('BARRIER_TRANSACTION_LOST', message, answer)
}
