import { GroupRolledBack, isGroupRolledBack } from './group-rolled-back.ts'

/**
 * Says how long a statement of a group waits for a lock of another transaction. This is far below the 10 s that a call
 * has by default, so that there is time to find the calls that need the lock. MySQL allows no shorter wait.
 */
export const LOCK_WAIT_MS = 1_000

export function asLockedOut(error: unknown): GroupRolledBack {
  return new GroupRolledBack(isGroupRolledBack(error) ? error.cause : error, { isLockedOut: true })
}

/**
 * Tells whether a group has waited for a lock in vain. Such a group is taken apart instead of being run again as a
 * whole.
 */
export function isLockedOut(error: unknown): boolean {
  return isGroupRolledBack(error) && error.isLockedOut
}
