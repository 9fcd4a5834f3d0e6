import type {
  AbortCause,
  AttemptRun,
  BranchId,
  ByHandView,
  EntryType,
  Gid,
  Op,
  OpState,
  PauseView,
  Result,
  RetryPolicy,
  TrailEntry,
} from '@counterstep/protocol'
import {
  type BranchTarget,
  hasTwoPhases,
  type MessageDefinition,
  type RecordedDefinition,
  type SagaBranch,
  type SagaDefinition,
  type TccBranch,
  type TccDefinition,
  type WorkflowDefinition,
  type XaBranch,
  type XaDefinition,
} from './definition.ts'
import { computeOnce } from './values/compute-once.ts'

/**
 * A transaction as plain data. All instants in it are by the store's clock.
 * Each status has its own fields, and the types rule out all others: an aborting transaction has its abort decision, a
 * final one has the instant of its end.
 */
export type Transaction =
  | SagaTransaction
  | TwoPhaseTransaction
  | MessageTransaction
  | WorkflowTransaction
  | RecordedTransaction

export type SagaTransaction = SagaCommon & (Submitted | Aborting | Ended)

/**
 * The client tries the branches while the transaction is prepared. Then
 * all of them are confirmed, or all are cancelled.
 */
export type TccTransaction = TccCommon & (Prepared | Submitted | Aborting | Ended)

/**
 * The client calls the services while the transaction is prepared, and each of them prepares a transaction of its database. Then
 * all of these are committed, or all are rolled back.
 */
export type XaTransaction = XaCommon & (Prepared | Submitted | Aborting | Ended)

/** Its branches are registered while it is prepared, and get one of two calls after the decision. */
export type TwoPhaseTransaction = TccTransaction | XaTransaction

/**
 * It is prepared until its sender's database transaction is known to have
 * committed. Then each branch is called until it succeeds.
 */
export type MessageTransaction = MessageCommon & (Prepared | Submitted | Ended)

/** Its steps are planned by code while it runs. Each is a branch like those of a saga. */
export type WorkflowTransaction = WorkflowCommon & (Submitted | Aborting | Ended)

/** It is prepared until its client says how it has ended. It has no branches that are called. */
export type RecordedTransaction = RecordedCommon & (Prepared | Ended)

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
  /** The payload as JSON. It is dropped once a wait has taken the signal, unless the journal has no room for it. */
  readonly payload?: string
  /** The position of the branch that has taken it, or `EARLIER`. Absent: it is kept for the next wait of its name. */
  readonly takenBy?: number
}

interface TccCommon extends Identity {
  readonly kind: 'tcc'
  readonly definition: TccDefinition
  /** They stand in the order in which they were registered. */
  readonly registered: readonly TccBranch[]
  readonly branches: readonly TccBranchProgress[]
}

interface XaCommon extends Identity {
  readonly kind: 'xa'
  readonly definition: XaDefinition
  /** They stand in the order in which they were registered. */
  readonly registered: readonly XaBranch[]
  readonly branches: readonly XaBranchProgress[]
}

interface MessageCommon extends Identity {
  readonly kind: 'message'
  readonly definition: MessageDefinition
  /** The progress of the query-back. It stays idle where the definition has no check. */
  readonly check: OpProgress
  readonly branches: readonly MessageBranchProgress[]
}

interface RecordedCommon extends Identity {
  readonly kind: 'recorded'
  readonly definition: RecordedDefinition
  /** The progress of the callback. */
  readonly check: OpProgress
  readonly branches: readonly never[]
  /** The steps that its client has reported, the oldest first. */
  readonly records: readonly StepRecord[]
  /** A text that its client gave with the success. */
  readonly result?: string
}

/** No two records of a transaction have the same branch id and op. */
export interface StepRecord {
  readonly branchId: BranchId
  /** A word of its client. */
  readonly op: string
  readonly status: 'succeeded' | 'failed'
  /** The bytes that it has kept of the step, in base64. */
  readonly data: string
}

interface WorkflowCommon extends Identity {
  readonly kind: 'workflow'
  readonly definition: WorkflowDefinition
  /** They stand in the order in which they were planned. A step is never changed or removed. */
  readonly steps: readonly WorkflowStep[]
  /** The progress of each step. */
  readonly branches: readonly SagaBranchProgress[]
  readonly plan: PlanInHand
  /** Absent in the first generation. */
  readonly generation?: Generation
  /** The positions of the steps that have ended, in the order of the journal. */
  readonly order: readonly number[]
  /** For each entry of the order that a plan has seen, when the first such plan was opened. */
  readonly seenAt: readonly number[]
  /** The highest slot that any plan call was granted. It is there if and only if the definition has grants. */
  readonly granted?: number
  /** The version of the code, pinned by the first plan that was accepted. */
  readonly version?: number
  /** The value that the code returned, as JSON. It counts once the workflow has succeeded. */
  readonly result?: string
  readonly noReturnAt?: number
  readonly signals?: readonly Signal[]
}

/** A step that code has planned. Results of the code itself are steps too: they call nothing and have succeeded. */
export interface WorkflowStep {
  /** The name by which the code asks for it. */
  readonly id: string
  readonly is: EntryType
  readonly name?: string
  /** The branch that is called, or that waits. The id of a local step is its slot. */
  readonly branch: SagaBranch
  /** The JSON pointers of the values that are kept of the answer. The whole answer is one of them. */
  readonly kept: readonly string[]
  /**
   * It grows with each plan that names a step, and with each step that ran within a plan call. Of two steps, the one with the
   * higher rank is undone first.
   */
  readonly rank: number
  readonly local?: LocalStep
}

/** A step that the handler runs itself, under a slot. */
export interface LocalStep {
  /** The compensation is called if there is something to undo, or if the step has failed. */
  readonly hasUndo: boolean
  /**
   * Only a slot that was granted to a plan call has it. `ran`: an accepted plan told how the step ended. `may-have-run`: no
   * plan did, so it counts as failed, and its compensation is the seal of the slot.
   */
  readonly granted?: 'ran' | 'may-have-run'
}

/** The plan call that is to be made, or whose answer is being carried out. */
export interface PlanInHand {
  readonly number: number
  /** The call brings this many entries of the order. */
  readonly seen: number
  readonly at: number
  readonly call: OpProgress
  /** Present once an answer was accepted: when the next plan is opened. After `end` none is. */
  readonly until?: 'now' | 'any' | 'all' | 'end'
  /** A step has failed within the call, so the next plan is granted no slot. */
  readonly hasFailedWithin?: true
  /** The input of the next generation, as JSON. That begins once every step that has failed is undone. */
  readonly continueWith?: string
}

/** A generation behind the first one. */
export interface Generation {
  readonly number: number
  /** When it began. Its deadline, its waits and the rows of barriers count from here. */
  readonly at: number
  /** A JSON text. */
  readonly input: string
  /** The highest slot that an earlier generation had. */
  readonly slots: number
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

export interface XaBranchProgress {
  readonly commit: OpProgress
  readonly rollback: OpProgress
}

export interface MessageBranchProgress {
  readonly action: OpProgress
}

export type SagaOp = keyof SagaBranchProgress
export type TccOp = keyof TccBranchProgress
export type XaOp = keyof XaBranchProgress
/** The ops that an orchestrator calls. A TCC's `try` is missing, because its client makes that call. */
export type CalledOp = SagaOp | TccOp | XaOp | 'msg' | 'plan'

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
  /** The code of a workflow is told this of its failed step, as JSON. It is not shown. */
  readonly failure?: string
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

/** Stands for the position of a step of an earlier generation. */
export const EARLIER = -1
export const IDLE: OpProgress = { state: 'idle', attempts: 0, failures: 0, waits: 0 }
export const UNTOUCHED: SagaBranchProgress = { action: IDLE, compensate: IDLE }
export const UNCONFIRMED: TccBranchProgress = { confirm: IDLE, cancel: IDLE }
export const UNDECIDED: XaBranchProgress = { commit: IDLE, rollback: IDLE }
export const UNDELIVERED: MessageBranchProgress = { action: IDLE }

export type FinalTransaction = Extract<Transaction, { readonly finishedAt: number }>

export function isFinal(transaction: Transaction): transaction is FinalTransaction {
  return 'finishedAt' in transaction
}

/** Tells whether a branch waits or has a role. A saga without either is stored and run as before there were any. */
export function hasStages({ branches }: Pick<SagaDefinition, 'branches'>): boolean {
  return branches.some(({ wait, role }) => wait !== undefined || role !== undefined)
}

export function isTwoPhase(transaction: Transaction): transaction is TwoPhaseTransaction {
  return hasTwoPhases(transaction.definition)
}

/** Returns the branches as they are to be called. For a TCC and for XA these are the ones registered so far. */
export function getBranchTargets(transaction: Transaction): readonly BranchTarget[] {
  if (isTwoPhase(transaction)) return transaction.registered
  if (transaction.kind === 'recorded') return []
  return transaction.kind === 'workflow'
    ? listStepBranches(transaction.steps)
    : transaction.definition.branches
}

/** Counts the characters of what branches get, which is nearly all of a large transaction. */
export function countBodyCharacters(targets: readonly BranchTarget[]): number {
  return targets.reduce((sum, { body }) => sum + body.length, 0)
}

/** Returns the branches of the steps. */
export const listStepBranches = computeOnce((steps: readonly WorkflowStep[]) =>
  steps.map(({ branch }) => branch),
)

/** The first plan of a generation, as its begin implies it: nothing has ended before it. */
export function firstPlan(at: number): PlanInHand {
  return { number: 1, seen: 0, at, call: IDLE }
}

/** Returns the accept, or the begin of the generation in hand. */
export function findAcceptedAt(transaction: Transaction): number {
  const { createdAt } = transaction
  return transaction.kind === 'workflow' ? (transaction.generation?.at ?? createdAt) : createdAt
}

/** Tells whether the transaction is a saga or a workflow: its branches are undone one by one, and some may wait for signals. */
export function hasSteps(transaction: Transaction): transaction is SagaTransaction | WorkflowTransaction {
  return transaction.kind === 'saga' || transaction.kind === 'workflow'
}
