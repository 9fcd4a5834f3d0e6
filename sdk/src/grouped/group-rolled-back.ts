import { isBranchError } from '../branch/branch-errors.ts'

/**
 * Says that a group's transaction was rolled back because of some of its calls, and not because the database failed.
 */
export class GroupRolledBack extends Error {
  /**
   * The places of the calls that are to blame, with the error of each. It is undefined if these calls are not known.
   */
  readonly blamed: ReadonlyMap<number, unknown> | undefined
  /** Some of its calls need a row that another transaction has locked. */
  readonly isLockedOut: boolean

  constructor(
    cause: unknown,
    { blamed, isLockedOut = false }: Partial<Pick<GroupRolledBack, 'blamed' | 'isLockedOut'>> = {},
  ) {
    // The cause is kept, because other code searches the causes for a deadlock, for which no call is to blame.
    super('the group was rolled back', { cause })
    this.name = 'GroupRolledBack'
    this.blamed = blamed
    this.isLockedOut = isLockedOut
  }
}

/**
 * The check compares the name, because the barrier that throws this error and the queue that catches it may be in two
 * bundles.
 */
export function isGroupRolledBack(error: unknown): error is GroupRolledBack {
  return error instanceof Error && error.name === 'GroupRolledBack' && 'blamed' in error
}

/**
 * Returns the error itself for a group whose `apply` has lost its transaction: what it wrote may have been committed alone, and would be
 * once more by each part into which the group is taken apart.
 */
export function unwrapLost(error: unknown): unknown {
  if (!isGroupRolledBack(error)) return error
  const { cause } = error
  return isBranchError(cause) && cause.code === 'BARRIER_TRANSACTION_LOST' ? cause : error
}
