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
/** For the server to say that a lock was not to be had: MySQL looks once a second whose wait is over. */
const ANSWER_MS = 2_000

/**
 * The wait for a row's lock ends before the wait for its statement: a refusal names the row's lock, silence could be the
 * server's end. So a statement has at least three seconds, and a lock what two of them leave, at most two unless told.
 */
export function sessionTimeouts({
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  lockWaitTimeoutMs = Math.min(LOCK_WAIT_TIMEOUT_MS, wholeSeconds(statementTimeoutMs - ANSWER_MS)),
}: Partial<SessionTimeouts>): SessionTimeouts {
  const lockWaitMs = Math.max(LOCK_WAIT_TIMEOUT_MS_MIN, Math.ceil(lockWaitTimeoutMs / 1_000) * 1_000)
  return {
    connectTimeoutMs,
    statementTimeoutMs: Math.max(statementTimeoutMs, lockWaitMs + ANSWER_MS),
    lockWaitTimeoutMs: lockWaitMs,
  }
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000
}
