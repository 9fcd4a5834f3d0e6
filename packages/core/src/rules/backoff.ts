import type { RetryPolicy } from '@counterstep/protocol'

/** After this many failures in a row the waits have a floor of their own, whatever the policy says. */
export const HOT_FAILURES = 5
/** No branch that goes on failing is called more often than this by one transaction. */
export const HOT_FLOOR_MS = 1_000

/** The floor doubles with each so many failures, */
const FLOOR_DOUBLES_AFTER = 5
/** up to so many times the first one. */
const FLOOR_FACTOR_MAX = 60

/** What this node allows whoever names a policy, and what it does with a call that fails for ever. */
export interface RetryBounds {
  /** The least wait after HOT_FAILURES failures. */
  readonly floorMs: number
  /** A call that has failed for so long is parked: a person is told, and it is asked again when that person says so. */
  readonly parkAfterMs: number | 'never'
}

export const RETRY_BOUNDS: RetryBounds = { floorMs: HOT_FLOOR_MS, parkAfterMs: 'never' }

/**
 * The least wait before a branch is asked again, whatever the policy says. It grows with the failures, since a submit of
 * 4 KiB may name 100 branches, and one call a second of each would be 100 a second at a service that never agreed to any.
 * It does not grow with answers `ongoing`: a service that says so wants to be asked again.
 */
export function retryFloorMs(failures: number, waits: number, { floorMs }: RetryBounds): number {
  if (waits < HOT_FAILURES) return 0
  const doublings = Math.max(0, Math.floor(failures / FLOOR_DOUBLES_AFTER) - 1)
  return floorMs * Math.min(FLOOR_FACTOR_MAX, 2 ** doublings)
}

/**
 * How long to wait after the n-th unknown or ongoing answer in a row (n ≥ 1).
 *
 * Exponential and capped. `jitter01` in [0, 1) draws the wait between a floor and that ceiling, so that the
 * transactions that an outage stopped do not come back at one instant; the floor keeps two calls apart.
 * A branch that says when to come back (Retry-After) is obeyed up to the cap.
 */
export function backoffMs(
  policy: RetryPolicy,
  failures: number,
  jitter01: number,
  retryAfterMs = 0,
  hotFloor = retryFloorMs(0, failures, RETRY_BOUNDS),
): number {
  const grown = policy.initialMs * policy.factor ** (failures - 1)
  const ceiling = Math.max(Math.min(policy.capMs, grown), hotFloor)
  const floor = Math.max(Math.min(policy.initialMs, ceiling), hotFloor)
  const drawn = ceiling - jitter01 * policy.jitter * (ceiling - floor)
  return Math.ceil(Math.max(drawn, Math.min(retryAfterMs, policy.capMs)))
}
