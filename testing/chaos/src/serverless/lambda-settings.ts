import type { StoreName } from '../settings.ts'

export interface LambdaSettings {
  readonly store: Exclude<StoreName, 'sqlite'>
  readonly sagas: number
  /** So many callers at once at the start. */
  readonly burst: number
  readonly seed: number
}

/** The callers after the burst. */
export const CALLERS = 24
/** The bound for the store's user, where the store has one: less than all environments would take. */
export const CONNECTIONS_MAX = 50
export const API_CONCURRENCY = 28
export const WORKER_CONCURRENCY = 4
export const SLOW_WORKER_CONCURRENCY = 4
/** Shorter than the branches' time limit, so that calls are cut and left to the slow workers in each run. */
export const QUICK_CALL_MS = 600
export const API_TIMEOUT_MS = 8_000
export const WORKER_TIMEOUT_MS = 8_000
export const SWEEPER_TIMEOUT_MS = 6_000
/** AWS does it each minute. */
export const SWEEP_EVERY_MS = 1_000
export const VISIBILITY_MS = 12_000
export const RECYCLE_AFTER_INVOCATIONS = 60

/** The functions start with these: waits are short, so that a run need not be long. */
export const FUNCTION_VARIABLES: Readonly<Record<string, string>> = {
  COUNTERSTEP_AUTHORIZER: 'iam',
  COUNTERSTEP_LOG_LEVEL: 'warn',
  COUNTERSTEP_HOLD_MS: '50',
  COUNTERSTEP_CHECKPOINT_MS: '200',
  COUNTERSTEP_STORE_TIMEOUT_MS: '1500',
  // Many environments start at once, and here they share two processors.
  COUNTERSTEP_STORE_CONNECT_TIMEOUT_MS: '5000',
  COUNTERSTEP_BRANCH_TIMEOUT_MS: '1500',
  COUNTERSTEP_RETRY_INITIAL_MS: '50',
  COUNTERSTEP_RETRY_CAP_MS: '1000',
}
