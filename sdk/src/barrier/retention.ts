import type { BarrierCall } from '../branch/branch.ts'
import { BranchError } from '../branch/branch-errors.ts'

const RETENTION_MS_DEFAULT = 60 * 24 * 3_600_000
const RETENTION_MS_MIN = 24 * 3_600_000
/**
 * Allows for differences between the clocks of orchestrator, service and purge, and for the time that the call itself
 * takes.
 */
const RETENTION_MARGIN_MS = 3_600_000

/** Returns how long the rows of a barrier are kept. Throws a TypeError if that is too short, when the barrier is made. */
export function checkRetentionMs(retentionMs: number = RETENTION_MS_DEFAULT): number {
  if (Number.isSafeInteger(retentionMs) && retentionMs >= RETENTION_MS_MIN) return retentionMs
  throw new TypeError(`retentionMs must be a whole number of at least ${RETENTION_MS_MIN} (one day)`)
}

/**
 * Throws BARRIER_EXPIRED if the call's row may have been purged. Without its row an action would run a second time, and
 * a compensation would wrongly conclude that its action never ran. A call without `acceptedAt` does not say how old it
 * is, and passes. An `acceptedAt` that is no instant is refused here, since the row would keep it.
 */
export function assertNotExpired({ gid, acceptedAt }: BarrierCall, retentionMs: number, now: number): void {
  if (acceptedAt === undefined) return
  if (!(acceptedAt >= 0 && acceptedAt <= Number.MAX_SAFE_INTEGER)) {
    throw new BranchError('BRANCH_CALL_INVALID', 'acceptedAt must be an instant in epoch milliseconds')
  }
  if (now - acceptedAt <= retentionMs - RETENTION_MARGIN_MS) return
  const days = Math.floor((now - acceptedAt) / (24 * 3_600_000))
  throw new BranchError(
    'BARRIER_EXPIRED',
    `${gid} was accepted ${days} days ago; its barrier rows may be gone`,
  )
}
