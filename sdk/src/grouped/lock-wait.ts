import { GroupRolledBack, isGroupRolledBack } from './group-rolled-back.ts'

/**
 * How long a statement of a group waits for what somebody else has locked: far below the 10 s that a call has by
 * default, so that there is time to find the calls that need it. It is the least that MySQL can be told.
 */
export const LOCK_WAIT_MS = 1_000

export function asLockedOut(error: unknown): GroupRolledBack {
  return new GroupRolledBack(isGroupRolledBack(error) ? error.cause : error, { isLockedOut: true })
}

/** A group that waits in vain is taken apart instead of being run again as a whole. */
export function isLockedOut(error: unknown): boolean {
  return isGroupRolledBack(error) && error.isLockedOut
}
