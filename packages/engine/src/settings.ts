import type { RetryPolicy } from '@counterstep/protocol'

/** Everything about an engine that a host may set. Each bound has a unit in its name. */
export interface EngineSettings {
  /** Transactions held by this node at once; over it, submit answers 503. */
  readonly inFlightMax: number
  readonly leaseMs: number
  /** How often the due index is looked at when idle. */
  readonly pollMs: number
  /** How long a transaction that only waits is kept in memory before it is given back to the store. */
  readonly holdMs: number
  /** How long a branch's progress may stay unsaved; the default of a transaction's `checkpointMs`. */
  readonly checkpointMs: number
  readonly retentionMs: number | 'never'
  /** The default of a branch's `timeoutMs`. */
  readonly branchTimeoutMs: number
  readonly retry: RetryPolicy
  /** How long a submit or a command waits for a definite answer of the store. */
  readonly storeTimeoutMs: number
  /** Callers waiting for an end at once; over it, a wait answers at once with what the transaction is. */
  readonly waitersMax: number
  /** Rows claimed at once. */
  readonly claimLimit: number
  /** Transactions that recovery may hold at once. */
  readonly recoveryInFlightMax: number
  /** Branch calls of this node in flight at once. */
  readonly callsInFlightMax: number
  /** Known future due instants kept in memory as hints. */
  readonly hintsMax: number
  /** Submits with ack "memory" that are not durable yet, at once. */
  readonly memoryAckMax: number
  /** At most so many lists are under way at once. */
  readonly scansAtOnceMax: number
  /** At most so many single transactions are read from the store at once for those who only read. */
  readonly readsAtOnceMax: number
  /** At most so many lists wait for their turn, and as many single reads; one more is refused at once. */
  readonly readsWaitingMax: number
  /** How long a list or a single read waits for its turn before it is refused. */
  readonly readWaitMs: number
}

export const DEFAULT_SETTINGS: EngineSettings = {
  inFlightMax: 4_096,
  leaseMs: 10_000,
  pollMs: 1_000,
  holdMs: 1_000,
  checkpointMs: 1_000,
  retentionMs: 7 * 24 * 3_600_000,
  branchTimeoutMs: 10_000,
  retry: { initialMs: 200, factor: 2, capMs: 60_000, jitter: 1, limit: null },
  storeTimeoutMs: 3_000,
  waitersMax: 10_000,
  claimLimit: 100,
  recoveryInFlightMax: 1_024,
  callsInFlightMax: 4_096,
  hintsMax: 100_000,
  memoryAckMax: 4_096,
  scansAtOnceMax: 2,
  readsAtOnceMax: 16,
  readsWaitingMax: 4_096,
  readWaitMs: 2_000,
}
