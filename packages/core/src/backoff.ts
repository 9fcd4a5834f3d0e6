import type { RetryPolicy } from '@counterstep/protocol'

/** After this many failures in a row the waits have a floor of their own, whatever the policy says. */
export const HOT_FAILURES = 5
/** No branch that goes on failing is called more often than this by one transaction. */
export const HOT_FLOOR_MS = 1_000

/**
 * How long to wait after the n-th unknown or ongoing answer in a row (n ≥ 1).
 *
 * Exponential and capped. `jitter01` in [0, 1) draws the wait between a floor and that ceiling, so that the
 * transactions that an outage stopped do not come back at one instant; the floor keeps two calls apart.
 * A branch that says when to come back (Retry-After) is obeyed up to the cap.
 */
export function backoffMs(policy: RetryPolicy, failures: number, jitter01: number, retryAfterMs = 0): number {
  const hotFloor = failures >= HOT_FAILURES ? HOT_FLOOR_MS : 0
  const grown = policy.initialMs * policy.factor ** (failures - 1)
  const ceiling = Math.max(Math.min(policy.capMs, grown), hotFloor)
  const floor = Math.max(Math.min(policy.initialMs, ceiling), hotFloor)
  const drawn = ceiling - jitter01 * policy.jitter * (ceiling - floor)
  return Math.ceil(Math.max(drawn, Math.min(retryAfterMs, policy.capMs)))
}
