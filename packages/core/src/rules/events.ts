import type { Actor, ByHandView, Op } from '@counterstep/protocol'
import type { RegisteredBranch } from '../definition.ts'
import type { BranchAnswer } from '../ports/ports.ts'
import type { CalledOp, Edit, Signal, StepRecord } from '../transaction.ts'
import type { RetryBounds } from './backoff.ts'
import type { ReadPlan } from './workflow-plan.ts'

export interface CallKey {
  /** The position among the branches, or CHECK, or PLAN. */
  readonly branch: number
  readonly op: CalledOp
}

/** A call that found no place at its target. It may be sent in `waitMs`. */
export interface HeldCall {
  readonly call: CallKey
  readonly attempt: number
  readonly waitMs: number
}

/** Everything that may happen to a transaction. The runner turns all input from outside into one of these events. */
export type TransactionEvent =
  /** A node took the transaction over. Calls that its last owner had in flight are no longer its own. */
  | { readonly type: 'claimed'; readonly epoch: number; readonly sentUnknown: boolean }
  /** These calls are being sent. */
  | { readonly type: 'sent'; readonly calls: readonly CallKey[] }
  | {
      readonly type: 'answered'
      readonly call: CallKey
      readonly attempt: number
      readonly answer: BranchAnswer
      readonly durationMs: number
      /** A number drawn uniformly from [0, 1), for the next wait. */
      readonly jitter01: number
      /** Absent: RETRY_BOUNDS apply. */
      readonly bounds?: RetryBounds
      /** Only the answer of a plan call with success has it. */
      readonly plan?: ReadPlan
    }
  /** These calls found no place at their target and were never sent. */
  | { readonly type: 'held-back'; readonly calls: readonly HeldCall[] }
  /** Time has passed, so deadlines and starts may be due. */
  | { readonly type: 'time' }
  | Command

/** The commands that a client or an operator may give, on any node. */
export type Command =
  /** A TCC gets one more branch, which its client has not tried yet, or XA one that is about to prepare. */
  | { readonly type: 'register-asked'; readonly branch: RegisteredBranch }
  /** The client has done its part of a prepared transaction, so a TCC is confirmed, XA is committed, or a message is delivered. */
  | { readonly type: 'submit-asked'; readonly given?: Given }
  | { readonly type: 'abort-asked'; readonly reason?: string; readonly given?: Given }
  /** The client of a recorded workflow reports a step that it has done. */
  | { readonly type: 'record-asked'; readonly record: StepRecord }
  /** The client of a recorded workflow says how it has ended. */
  | { readonly type: 'end-asked'; readonly end: RecordedEnd }
  /** A saga gets a signal that one of its branches waits for, or will wait for. */
  | { readonly type: 'signal-asked'; readonly signal: Signal }
  | { readonly type: 'retry-asked'; readonly given?: Given }
  | { readonly type: 'stop-asked'; readonly given?: Given }
  | OperatorsOwn

export type RecordedEnd =
  | { readonly status: 'succeeded'; readonly result: string }
  | { readonly status: 'failed'; readonly reason: string }

/** The commands that only operators have. */
type OperatorsOwn =
  /** No call starts until the resume, or until the instant `until`. */
  | { readonly type: 'pause-asked'; readonly until?: number; readonly given: Given }
  | { readonly type: 'resume-asked'; readonly given: Given }
  | OpCommand

/** A command about one op. A branch is named by its id, because a TCC gets its branches one by one. */
export type OpCommand =
  | (OpName & { readonly type: 'retry-op-asked'; readonly given: Given })
  /** A person says that the op is done. */
  | (OpName & {
      readonly type: 'skip-asked'
      readonly doneBy: ByHandView['doneBy']
      /** The JSON text from which the values are kept that other branches use. */
      readonly answer?: string
      readonly given: Given
    })
  | (OpName & {
      readonly type: 'edit-asked'
      readonly edit: Omit<Edit, 'branch' | 'op'>
      readonly given: Given
    })

export interface OpName {
  readonly branchId: string
  readonly op: Op
}

/**
 * Who gave a command, and why. A command that has it is an operator's, and is written to the trail together with its effect.
 * The abort or the submit of a client has none, so its record is what it was before there were trails.
 */
export interface Given {
  /** The same id again is the same command. */
  readonly id: string
  readonly by: Actor
  readonly reason?: string
  /** The person has confirmed that no call of the op took effect. */
  readonly confirm?: string
  readonly bulk?: string
  /** The command is refused if something else than this plan would follow from it by now. */
  readonly planId?: string
}

/** A command of an operator. */
export type GivenCommand = Extract<Command, { readonly given?: Given }> & { readonly given: Given }

/** An action that the transaction needs next. A final transaction needs none. */
export type TransactionEffect =
  | { readonly type: 'call'; readonly call: CallKey }
  | { readonly type: 'wake-at'; readonly at: number }

/**
 * How durable a change must be. `strong`: it is saved before a call is based on it and before a client is told. `lazy`: it
 * may be saved later, with a later state; a crash repeats the call, and the participant's barrier absorbs the repeat.
 * `none`: nothing changed that must be saved.
 */
export type Durability = 'strong' | 'lazy' | 'none'
