/** Every kind of transaction. ARCHITECTURE.md says what a new one takes. */
export const KINDS = ['saga', 'tcc', 'message'] as const
export type Kind = (typeof KINDS)[number]

export const UNFINISHED_STATUSES = ['prepared', 'submitted', 'aborting'] as const
export const FINAL_STATUSES = ['succeeded', 'failed', 'stopped'] as const
export const STATUSES = [...UNFINISHED_STATUSES, ...FINAL_STATUSES] as const
export type UnfinishedStatus = (typeof UNFINISHED_STATUSES)[number]
/** `succeeded`; `failed`: everything that may have run has been undone; `stopped`: ended by an operator before that. */
export type FinalStatus = (typeof FINAL_STATUSES)[number]
export type Status = UnfinishedStatus | FinalStatus

/** Each op is one kind of call to a branch. */
export const OPS = ['action', 'compensate', 'try', 'confirm', 'cancel', 'msg'] as const
export type Op = (typeof OPS)[number]

/**
 * These are the results of a branch call. `unknown` (timeout, reset, 5xx, anything else) is never `failure`: the branch is asked again.
 */
export const RESULTS = ['success', 'failure', 'ongoing', 'unknown'] as const
export type Result = (typeof RESULTS)[number]

export function isFinalStatus(status: Status): status is FinalStatus {
  return status === 'succeeded' || status === 'failed' || status === 'stopped'
}
