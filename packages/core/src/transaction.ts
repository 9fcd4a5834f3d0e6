import type {
  AbortCause,
  AttemptRun,
  ByHandView,
  Gid,
  Op,
  OpState,
  PauseView,
  Result,
  RetryPolicy,
  TrailEntry,
} from '@counterstep/protocol'
import type {
  BranchTarget,
  MessageDefinition,
  SagaDefinition,
  TccBranch,
  TccDefinition,
} from './definition.ts'

/**
 * A transaction as plain data. All instants in it are by the store's clock.
 * Each status has its own fields, and the types rule out all others: an aborting transaction has its abort decision, a
 * final one has the instant of its end.
 */
export type Transaction = SagaTransaction | TccTransaction | MessageTransaction

export type SagaTransaction = SagaCommon & (Submitted | Aborting | Ended)

/**
 * The client tries the branches while the transaction is prepared. Then
 * all of them are confirmed, or all are cancelled.
 */
export type TccTransaction = TccCommon & (Prepared | Submitted | Aborting | Ended)

/**
 * It is prepared until its sender's database transaction is known to have
 * committed. Then each branch is called until it succeeds.
 */
export type MessageTransaction = MessageCommon & (Prepared | Submitted | Ended)

interface Prepared {
  readonly status: 'prepared'
}
interface Submitted {
  readonly status: 'submitted'
}
interface Aborting {
  readonly status: 'aborting'
  readonly abort: AbortDecision
}
type Ended =
  | { readonly status: 'succeeded'; readonly finishedAt: number }
  | { readonly status: 'failed'; readonly abort: AbortDecision; readonly finishedAt: number }
  | { readonly status: 'stopped'; readonly abort?: AbortDecision; readonly finishedAt: number }

interface SagaCommon extends Identity {
  readonly kind: 'saga'
  readonly definition: SagaDefinition
  readonly branches: readonly SagaBranchProgress[]
  /** Since this instant nothing but a failure of the pivot turns the saga around. It is durable before the pivot is called. */
  readonly noReturnAt?: number
  /** The signals that have come, the oldest first. Absent: none has. */
  readonly signals?: readonly Signal[]
}

export interface Signal {
  readonly name: string
  readonly id: string
  /** The hash of its name and payload. */
  readonly digest: string
  /** The payload as JSON. It is dropped once a wait has taken the signal. */
  readonly payload?: string
  /** The position of the branch that has taken it. Absent: it is kept for the next wait of its name. */
  readonly takenBy?: number
}

interface TccCommon extends Identity {
  readonly kind: 'tcc'
  readonly definition: TccDefinition
  /** They stand in the order in which they were registered. */
  readonly registered: readonly TccBranch[]
  readonly branches: readonly TccBranchProgress[]
}

interface MessageCommon extends Identity {
  readonly kind: 'message'
  readonly definition: MessageDefinition
  /** The progress of the query-back. It stays idle where the definition has no check. */
  readonly check: OpProgress
  readonly branches: readonly MessageBranchProgress[]
}

interface Identity {
  readonly gid: Gid
  readonly digest: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly epoch: number
  /** Calls may have been sent that are not recorded here, so an abort must take every branch as sent. */
  readonly sentUnknown: boolean
  /** The number of times that an operator asked for a retry. */
  readonly manualRetries: number
  /**
   * Claims in a row during which no branch answered. Claims whose owner gave the row back do not count. A number above 1
   * says that this row may be crashing its owners.
   */
  readonly claimsUnanswered: number
  /** The reason why a person should look at it. */
  readonly attention?: string
  /** The commands of operators, the oldest first. Every entry is a command that is done. Absent: there is none. */
  readonly trail?: readonly StoredEntry[]
  /** While it is there and its `until` has not passed, no call starts. A final transaction has none. */
  readonly paused?: PauseView
  /** The changes that operators have made to the requests of single ops. At most one edit names an op. */
  readonly edits?: readonly Edit[]
}

export interface StoredEntry extends TrailEntry {
  /** The ids of the retries that were merged into this one, the oldest first. */
  readonly also?: readonly string[]
}

/** Each field that is there replaces that part of the op's request. The definition stays as it was submitted. */
export interface Edit {
  /** The position of the branch. */
  readonly branch: number
  readonly op: Op
  readonly url?: string
  readonly body?: string
  readonly contentType?: string
  /** The SHA-256 of the body, in hex. */
  readonly bodyHash?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly retry?: RetryPolicy
}

export interface SagaBranchProgress {
  readonly action: OpProgress
  readonly compensate: OpProgress
}

export interface TccBranchProgress {
  readonly confirm: OpProgress
  readonly cancel: OpProgress
}

export interface MessageBranchProgress {
  readonly action: OpProgress
}

export type SagaOp = keyof SagaBranchProgress
export type TccOp = keyof TccBranchProgress
/** The ops that an orchestrator calls. A TCC's `try` is missing, because its client makes that call. */
export type CalledOp = SagaOp | TccOp | 'msg'

/**
 * `calling`: it was sent, and no answer is known. `waiting`: it is called again at `nextAt`, or now if there is none.
 * `open`: the branch waits for a time or a signal, and ends at `nextAt` at the latest. `by-hand`: it is a compensation
 * that is never called, because a person did the action elsewhere; it waits until a person says that it is done.
 */
export interface OpProgress {
  readonly state: OpState
  /** The number of calls sent. */
  readonly attempts: number
  /** The number of unknown answers. A retry limit counts these. */
  readonly failures: number
  /** The number of unknown and ongoing answers. The back-off grows with it. */
  readonly waits: number
  /** The instant of the first unknown answer since the last ongoing one. It is absent while there is none. */
  readonly failingSince?: number
  readonly nextAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly durationMs?: number
  readonly result?: Result
  readonly statusCode?: number
  readonly answer?: string
  readonly error?: string
  /** How the attempts without success ended, the oldest first. Absent: there are none. */
  readonly runs?: readonly AttemptRun[]
  /**
   * The values that are kept of the answer, in the order of the definition, each as its JSON text. A value that the answer
   * did not have is null. They are never shown, because they may be secret.
   */
  readonly values?: readonly (string | null)[]
  /** A person has said that the op is done. Its state is `succeeded` then, whatever the last answer was. */
  readonly byHand?: ByHandView
}

/** The decision is made once and saved as a strong change. Its list of branches may grow, but never shrinks. */
export interface AbortDecision {
  readonly cause: AbortCause
  /** The position of the branch that caused it. */
  readonly branch?: number
  readonly at: number
  /** The words of the client or the operator that asked for it. */
  readonly reason?: string
  /** The positions of the branches whose action may have been sent. */
  readonly branches: readonly number[]
}

export const IDLE: OpProgress = { state: 'idle', attempts: 0, failures: 0, waits: 0 }
export const UNTOUCHED: SagaBranchProgress = { action: IDLE, compensate: IDLE }
export const UNCONFIRMED: TccBranchProgress = { confirm: IDLE, cancel: IDLE }
export const UNDELIVERED: MessageBranchProgress = { action: IDLE }

export type FinalTransaction = Extract<Transaction, { readonly finishedAt: number }>

export function isFinal(transaction: Transaction): transaction is FinalTransaction {
  return 'finishedAt' in transaction
}

/** Tells whether a branch waits or has a role. A saga without either is stored and run as before there were any. */
export function hasStages({ branches }: Pick<SagaDefinition, 'branches'>): boolean {
  return branches.some(({ wait, role }) => wait !== undefined || role !== undefined)
}

/** Returns the branches as they are to be called. For a TCC these are the ones registered so far. */
export function getBranchTargets(transaction: Transaction): readonly BranchTarget[] {
  return transaction.kind === 'tcc' ? transaction.registered : transaction.definition.branches
}
