/** A group's transaction was rolled back because of some of its calls, and not by the database. */
export class GroupRolledBack extends Error {
  /** The places of the calls that are to blame, with what is wrong with each; undefined if nobody knows. */
  readonly blamed: ReadonlyMap<number, unknown> | undefined
  /** Some of its calls need what somebody else has locked. */
  readonly isLockedOut: boolean

  constructor(
    cause: unknown,
    { blamed, isLockedOut = false }: Partial<Pick<GroupRolledBack, 'blamed' | 'isLockedOut'>> = {},
  ) {
    // The cause is looked through for a deadlock, which is nobody's fault.
    super('the group was rolled back', { cause })
    this.name = 'GroupRolledBack'
    this.blamed = blamed
    this.isLockedOut = isLockedOut
  }
}

/** By its name: the barrier that throws it and the queue that hears of it may be in two bundles. */
export function isGroupRolledBack(error: unknown): error is GroupRolledBack {
  return error instanceof Error && error.name === 'GroupRolledBack' && 'blamed' in error
}
