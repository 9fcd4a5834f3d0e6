/**
 * The plan call: the orchestrator asks the code of a workflow what comes next. The call brings the results of everything
 * that has ended so far, and the answer says what to call or to wait for.
 */
import type { JsonValue } from './wire.ts'
import type { EntryType } from './words.ts'

/** The error of a step or of a whole workflow, as its code threw it. */
export interface PlanFailure {
  readonly code: string
  readonly message: string
  readonly details?: JsonValue
}

export interface PlanCall {
  readonly v: 1
  readonly gid: string
  readonly workflow: string
  /** Absent: no version is pinned yet, and the handler takes its newest one. */
  readonly version?: number
  readonly generation: number
  readonly plan: number
  /** When the workflow was accepted, in epoch milliseconds by the store's clock. */
  readonly acceptedAt: number
  /** When the first plan was opened. It is later than the accept if the workflow was delayed. */
  readonly startAt: number
  /** When this plan was opened. All calls of one plan by one owner have the same instant. */
  readonly at: number
  readonly input: JsonValue
  /** Everything that has ended, in the order in which it did. Later calls bring the same entries and more behind them. */
  readonly journal: readonly JournalEntry[]
  /** Everything that was planned and has not ended, as far as the journal tells. */
  readonly pending: readonly PendingEntry[]
  /** The slots that local steps may run under within this call. With a count of 0 there are none, and `from` is the first free one. */
  readonly grant: { readonly from: number; readonly count: number }
  /** The bytes that the record has room for. */
  readonly bytesLeft: number
}

export interface PendingEntry {
  readonly id: string
  readonly is: EntryType
  /** The name of the step or signal, or the URL of a call. Of a timer it is the id. */
  readonly name?: string
  readonly slot?: string
}

/** It has `failed`, or `value`, or neither of them where the answer was no JSON or there was none. */
export interface JournalEntry extends PendingEntry {
  readonly value?: JsonValue
  readonly failed?: PlanFailure
  /** The instant of the plan whose call was the first to bring this entry, or whose answer had it in `ran`. */
  readonly at: number
}

/** A result of the function itself. */
export interface RanEntry {
  readonly id: string
  readonly is: 'run' | 'patch'
  readonly name?: string
  readonly value?: JsonValue
}

/** It is to be called, or waited for. */
export interface NextEntry {
  readonly id: string
  readonly is: 'step' | 'call' | 'timer' | 'signal'
  readonly name?: string
  /** A branch of a saga without `id` and `after`, a branch that waits, or the call of a local step at the handler. */
  readonly branch: JsonValue | StepCall
}

export interface StepCall {
  /** `~` and a number from `grant.from` on. No two steps have the same. */
  readonly slot: string
  readonly input?: JsonValue
  /** Whether the step has something to undo. */
  readonly undo: boolean
  readonly role?: 'pivot' | 'retriable'
}

/** Says when to plan again (at once, when anything pending ends, when all of it has or something has failed), or how the workflow ends. */
export type PlanThen =
  | 'now'
  | 'any'
  | 'all'
  | { readonly done: JsonValue }
  | { readonly failed: PlanFailure }
  | { readonly refused: PlanFailure & { readonly id?: string } }

export interface PlanAnswer {
  readonly v: 1
  readonly gid: string
  /** It may be absent only in a refusal. */
  readonly version?: number
  readonly generation: number
  readonly plan: number
  readonly ran: readonly RanEntry[]
  readonly next: readonly NextEntry[]
  readonly then: PlanThen
}

/** The body of a call of a local step. The handler answers an action with the value of the step as JSON. */
export interface StepCallBody {
  readonly v: 1
  readonly workflow: string
  readonly version: number
  readonly step: string
  readonly input?: JsonValue
  /** Only for a compensation, and only where the step's action is known to have succeeded. */
  readonly value?: JsonValue
  /** It is the same for all attempts of one op. */
  readonly idempotencyKey: string
}
