import { SLOW_FLOOR_MS } from '@counterstep/core'
import { type RetryPolicy, TIMEOUT_MS_MAX } from '@counterstep/protocol'

/** The settings of an engine that a host may change. Each limit has a unit in its name. */
export interface EngineSettings {
  /** The number of accepted transactions that this node runs at once. Beyond it, submit answers 503. */
  readonly inFlightMax: number
  readonly leaseMs: number
  /** Says how often an idle node claims due rows. */
  readonly pollMs: number
  /** Says how long a transaction that only waits is kept in memory before it is given back to the store. */
  readonly holdMs: number
  /** Says how long a branch's progress may stay unsaved. It is the default of a transaction's `checkpointMs`. */
  readonly checkpointMs: number
  readonly retentionMs: number | 'never'
  /** This is the default of a branch's `timeoutMs`. */
  readonly branchTimeoutMs: number
  readonly retry: RetryPolicy
  /** Says how long a submit or a command waits for a definite answer of the store. */
  readonly storeTimeoutMs: number
  /** The number of callers that wait for an end at once. Beyond it, a wait answers at once with the current state. */
  readonly waitersMax: number
  /** The number of rows that one claim takes. */
  readonly claimLimit: number
  /** The number of claimed transactions that this node runs at once. */
  readonly recoveryInFlightMax: number
  /**
   * This is the number of actions of accepted transactions in flight at once. Half as many compensations, confirms,
   * cancels and query-backs may be in flight beside them, and half as many actions of claimed transactions.
   */
  readonly callsInFlightMax: number
  /**
   * The part, in (0, 1], of the transactions and of the calls in flight that one target (an origin) may use while no
   * other target uses any. 1 turns this protection off: one target that hangs may then stop all others.
   */
  readonly targetShare: number
  /**
   * The number of branch calls a second that this node makes to one target. Further
   * calls wait and do not count as failed. Null means no limit.
   */
  readonly targetCallsPerSecond: number | null
  /**
   * The longest `timeoutMs` that a request may ask for. A stored transaction with a longer one is called with this one.
   */
  readonly timeoutMsMax: number
  /**
   * The least wait after five waits of a call, whatever its retry policy. It doubles
   * with every five further failures, up to 60 times its length.
   */
  readonly retryFloorMs: number
  /** A call that has failed for this long is parked with `attention`, and made again when an operator gives `retry`. */
  readonly parkAfterMs: number | 'never'
  /** The number of future due instants that are kept in memory as hints. */
  readonly hintsMax: number
  /** The number of submits with ack "memory" that are not durable yet at the same time. */
  readonly memoryAckMax: number
  /** The number of lists under way at once. */
  readonly scansAtOnceMax: number
  /** The number of single transactions that are read at once for callers that only read. */
  readonly readsAtOnceMax: number
  /** The number of lists that wait for their turn, and of single reads. One more is refused at once. */
  readonly readsWaitingMax: number
  /** Says how long a list or a single read waits for its turn before it is refused. */
  readonly readWaitMs: number
  /** A submit may have a kind that nodes of the version before do not run. Set it once all nodes of a store are of this version. */
  readonly acceptNewKinds: boolean
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
  targetShare: 0.5,
  targetCallsPerSecond: null,
  timeoutMsMax: TIMEOUT_MS_MAX,
  retryFloorMs: SLOW_FLOOR_MS,
  parkAfterMs: 30 * 24 * 3_600_000,
  hintsMax: 100_000,
  memoryAckMax: 4_096,
  scansAtOnceMax: 2,
  readsAtOnceMax: 16,
  readsWaitingMax: 4_096,
  readWaitMs: 2_000,
  acceptNewKinds: false,
}
