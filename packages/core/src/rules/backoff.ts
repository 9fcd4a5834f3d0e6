import type { RetryPolicy } from '@counterstep/protocol'

/**
 * After this many waits of one call, unknown and ongoing answers together, the
 * next waits have a least length, whatever the policy says.
 */
export const SLOW_AFTER_WAITS = 5
/** One transaction never calls a branch more often than this after SLOW_AFTER_WAITS waits. */
export const SLOW_FLOOR_MS = 1_000

/** The least wait doubles each time this many failures have been added. */
const FLOOR_DOUBLES_AFTER = 5
/** The least wait grows up to this multiple of its first length. */
const FLOOR_FACTOR_MAX = 60

/** The limits that a node sets to every retry policy, and its treatment of a call that keeps failing. */
export interface RetryBounds {
  /** The least wait after SLOW_AFTER_WAITS waits. */
  readonly floorMs: number
  /**
   * A call that has failed for this long is parked: an operator is told, and the call is made again when the operator
   * gives a retry.
   */
  readonly parkAfterMs: number | 'never'
  /** The least wait of this transaction, which is large and waits for its turn. Absent: it waits for no turn. */
  readonly turnMs?: number
}

export const RETRY_BOUNDS: RetryBounds = { floorMs: SLOW_FLOOR_MS, parkAfterMs: 'never' }

/**
 * Returns the least wait before a branch is called again, whatever the policy says. It grows with the failures, since a
 * submit of 4 KiB may name 100 branches, and one call a second for each would be 100 calls a second to a service that
 * never agreed to any. It does not grow with answers `ongoing`, because a service that answers so wants to be asked again.
 */
export function retryFloorMs(failures: number, waits: number, { floorMs }: RetryBounds): number {
  if (waits < SLOW_AFTER_WAITS) return 0
  const doublings = Math.max(0, Math.floor(failures / FLOOR_DOUBLES_AFTER) - 1)
  return floorMs * Math.min(FLOOR_FACTOR_MAX, 2 ** doublings)
}

/**
 * Returns how long to wait after the n-th unknown or ongoing answer (n ≥ 1), where `waits` is n.
 *
 * The wait grows exponentially up to a cap. `jitter01` in [0, 1) places the wait between a floor and that cap, so that
 * the transactions that an outage stopped do not come back at one instant. The floor keeps two calls apart. A branch
 * that says when to come back (Retry-After) is obeyed up to the cap.
 */
export function backoffMs(
  policy: RetryPolicy,
  waits: number,
  jitter01: number,
  retryAfterMs = 0,
  slowFloorMs = retryFloorMs(0, waits, RETRY_BOUNDS),
): number {
  const grown = policy.initialMs * policy.factor ** (waits - 1)
  const ceiling = Math.max(Math.min(policy.capMs, grown), slowFloorMs)
  const floor = Math.max(Math.min(policy.initialMs, ceiling), slowFloorMs)
  const drawn = ceiling - jitter01 * policy.jitter * (ceiling - floor)
  return Math.ceil(Math.max(drawn, Math.min(retryAfterMs, policy.capMs)))
}
