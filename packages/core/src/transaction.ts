import type { AbortCause, Gid, OpState, Result } from '@counterstep/protocol'
import type {
  BranchTarget,
  MessageDefinition,
  SagaDefinition,
  TccBranch,
  TccDefinition,
} from './definition.ts'

/**
 * A transaction as plain data. All instants in it are by the store's clock.
 * What a status has, the others cannot be written with: an aborting one has its abort decision, a final one its end.
 */
export type Transaction = SagaTransaction | TccTransaction | MessageTransaction

export type SagaTransaction = SagaCommon & (Submitted | Aborting | Ended)

/** Its client tries the branches while it is prepared; then they are all confirmed, or all cancelled. */
export type TccTransaction = TccCommon & (Prepared | Submitted | Aborting | Ended)

/** Prepared until its sender's database transaction is known to have committed; then its branches are called for good. */
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
}

interface TccCommon extends Identity {
  readonly kind: 'tcc'
  readonly definition: TccDefinition
  /** In the order in which they were registered. */
  readonly registered: readonly TccBranch[]
  readonly branches: readonly TccBranchProgress[]
}

interface MessageCommon extends Identity {
  readonly kind: 'message'
  readonly definition: MessageDefinition
  /** Of the query-back, where the definition has one. */
  readonly check: OpProgress
  readonly branches: readonly MessageBranchProgress[]
}

interface Identity {
  readonly gid: Gid
  readonly digest: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly epoch: number
  /** Calls may have been sent that nothing here tells of: an abort must take every branch as sent. */
  readonly sentUnknown: boolean
  /** How many times an operator asked to retry now. */
  readonly nudges: number
  /** Claims since the last answer, but for those whose owner gave it back: more than one says that owners do not live to tell. */
  readonly claimsUnanswered: number
  /** Why a person should look. */
  readonly attention?: string
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
/** What an orchestrator calls; a TCC's `try` is its client's. */
export type CalledOp = SagaOp | TccOp | 'msg'

/** `calling`: sent, and no answer known. `waiting`: answered unknown or ongoing, due again at `nextAt`. */
export interface OpProgress {
  readonly state: OpState
  /** Calls sent. */
  readonly attempts: number
  /** Unknown answers; what a retry limit counts. */
  readonly failures: number
  /** Unknown and ongoing answers; what the back-off grows with. */
  readonly waits: number
  /** When the first unknown answer came behind the last ongoing one. Absent: none has. */
  readonly failingSince?: number
  readonly nextAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly durationMs?: number
  readonly result?: Result
  readonly statusCode?: number
  readonly answer?: string
  readonly error?: string
}

/** Made once and saved strong; nobody shortens the list. */
export interface AbortDecision {
  readonly cause: AbortCause
  /** Position of the branch that caused it. */
  readonly branch?: number
  readonly at: number
  /** In the words of whoever asked for it. */
  readonly reason?: string
  /** Positions of the branches whose action may have been sent. */
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

/** What the branches are: of a TCC, those registered so far. */
export function targetsOf(transaction: Transaction): readonly BranchTarget[] {
  return transaction.kind === 'tcc' ? transaction.registered : transaction.definition.branches
}
