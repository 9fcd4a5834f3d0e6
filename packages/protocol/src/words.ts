/** Lists the kinds of transaction. ARCHITECTURE.md says what a new one takes. */
export const KINDS = ['saga', 'tcc', 'message', 'workflow', 'xa', 'recorded'] as const
export type Kind = (typeof KINDS)[number]
/**
 * These are DTM's words for the kinds, which its services and their barriers know. Only the handler of a workflow sees the word of
 * its kind: for every other service the call of a workflow is one of a saga.
 */
export const TRANS_TYPES = {
  saga: 'saga',
  tcc: 'tcc',
  message: 'msg',
  workflow: 'workflow',
  xa: 'xa',
  recorded: 'workflow',
} as const satisfies Readonly<Record<Kind, string>>
/**
 * Lists the kinds that every submit may have. The others are only read: a release that reads a kind goes out before the one
 * that accepts it, so that no node of a cluster meets a row that it cannot run.
 */
export const OPEN_KINDS = ['saga', 'tcc', 'message'] as const
export type OpenKind = (typeof OPEN_KINDS)[number]
/** Lists the kinds that the native API accepts, where new kinds are accepted. The others come by DTM's API alone. */
export const NATIVE_KINDS = ['saga', 'tcc', 'message', 'workflow'] as const
export type NativeKind = (typeof NATIVE_KINDS)[number]

export const UNFINISHED_STATUSES = ['prepared', 'submitted', 'aborting'] as const
export const FINAL_STATUSES = ['succeeded', 'failed', 'stopped'] as const
export const STATUSES = [...UNFINISHED_STATUSES, ...FINAL_STATUSES] as const
export type UnfinishedStatus = (typeof UNFINISHED_STATUSES)[number]
/**
 * `succeeded` says that every branch is done, `failed` that everything that may have run has been undone, and
 * `stopped` that an operator ended the transaction before that.
 */
export type FinalStatus = (typeof FINAL_STATUSES)[number]
export type Status = UnfinishedStatus | FinalStatus

/**
 * Each op is one kind of call to a branch. `msg` is the query-back of a message, and `plan` asks the code of a workflow what
 * comes next. `commit` and `rollback` end the prepared database transaction of a branch of XA.
 */
export const OPS = [
  ...(['action', 'compensate', 'try', 'confirm', 'cancel', 'msg', 'plan'] as const),
  ...(['commit', 'rollback'] as const),
] as const
export type Op = (typeof OPS)[number]

/** Tells whether an op takes back what another one did. */
export function isUndo(op: Op): boolean {
  return op === 'compensate' || op === 'cancel' || op === 'rollback'
}

/**
 * Lists the results of a branch call. A timeout, a reset, a 5xx and every other answer is `unknown`, which never counts
 * as `failure`: the branch is asked again.
 */
export const RESULTS = ['success', 'failure', 'ongoing', 'unknown'] as const
export type Result = (typeof RESULTS)[number]

export function isFinalStatus(status: Status): status is FinalStatus {
  return status === 'succeeded' || status === 'failed' || status === 'stopped'
}

/** `run` and `patch` are results of the function itself. The others are branches that the orchestrator calls or waits for. */
export const ENTRY_TYPES = ['step', 'call', 'run', 'timer', 'signal', 'patch'] as const
export type EntryType = (typeof ENTRY_TYPES)[number]
