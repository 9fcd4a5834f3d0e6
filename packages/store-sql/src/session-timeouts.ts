export interface SessionTimeouts {
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockWaitTimeoutMs: number
}

export const CONNECT_TIMEOUT_MS = 2_000
export const STATEMENT_TIMEOUT_MS = 5_000
const LOCK_WAIT_TIMEOUT_MS = 2_000
/** InnoDB counts whole seconds. */
const LOCK_WAIT_TIMEOUT_MS_MIN = 1_000
/** Time for the server to say that it did not get a lock: MySQL looks once a second which waits are over. */
const ANSWER_MS = 2_000

/**
 * The wait for a row's lock ends before the wait for its statement, because a refusal names the lock, while silence could
 * also mean that the server has gone. So a statement waits at least three seconds. A lock waits two seconds less than its
 * statement, and no more than two unless it is set.
 */
export function toSessionTimeouts({
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  lockWaitTimeoutMs = Math.min(LOCK_WAIT_TIMEOUT_MS, toWholeSeconds(statementTimeoutMs - ANSWER_MS)),
}: Partial<SessionTimeouts>): SessionTimeouts {
  const lockWaitMs = Math.max(LOCK_WAIT_TIMEOUT_MS_MIN, Math.ceil(lockWaitTimeoutMs / 1_000) * 1_000)
  return {
    connectTimeoutMs,
    statementTimeoutMs: Math.max(statementTimeoutMs, lockWaitMs + ANSWER_MS),
    lockWaitTimeoutMs: lockWaitMs,
  }
}

function toWholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000
}
