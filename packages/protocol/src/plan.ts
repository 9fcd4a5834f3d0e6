/**
 * The plan call: the orchestrator asks the code of a workflow what comes next. The call brings the results of everything
 * that has ended so far, and the answer says what to call or to wait for.
 */
import type { JsonValue, SagaBranchRequest, SagaWaitRequest } from './wire.ts'
import type { EntryType } from './words.ts'

/** The error of a step or of a whole workflow, as its code threw it. */
export interface PlanFailure {
  readonly code: string
  readonly message: string
  readonly details?: JsonValue
}

/** How something ended: with a value, by a failure, or with neither of them where the answer was no JSON or there was none. */
export type PlanOutcome =
  | { readonly value?: JsonValue; readonly failed?: never }
  | { readonly failed: PlanFailure; readonly value?: never }

/** Says what an id stands for. A replay asks for the id as the same type, and by the same name. */
export interface PlanEntry {
  readonly id: string
  readonly is: EntryType
  /** The name of the step or signal, or the URL of a call as it is written in the code. Of anything else it is the id. */
  readonly name: string
}

/** Something that was planned and has not ended. */
export interface PendingEntry extends PlanEntry {
  /** Only a local step has one, such as `~3`. */
  readonly slot?: string
}

/** Something that has ended. A `patch` is the answer that `ctx.patched` gave. */
export type JournalEntry = PendingEntry &
  PlanOutcome & {
    /** The instant of the plan whose call was the first to bring this entry, or whose answer had it in `ran`. */
    readonly at: number
  }

/** The slots that local steps may run under within a plan call. With a count of 0 there are none, and `from` is the first free one. */
export interface PlanGrant {
  readonly from: number
  readonly count: number
}

export interface PlanCall {
  readonly v: 1
  readonly gid: string
  readonly workflow: string
  /** Absent: no version is pinned yet, and the handler takes its newest one. */
  readonly version?: number
  readonly generation: number
  readonly plan: number
  /** When this generation was accepted, in epoch milliseconds by the store's clock. */
  readonly acceptedAt: number
  /** When the first plan of this generation was opened. It is later than the accept if the workflow was delayed. */
  readonly startAt: number
  /** When this plan was opened. All calls of one plan by one owner have the same instant. */
  readonly at: number
  readonly input?: JsonValue
  /** Everything that has ended, in the order in which it did. Later calls bring the same entries and more behind them. */
  readonly journal: readonly JournalEntry[]
  /** Everything that was planned and has not ended, as far as the journal tells. */
  readonly pending: readonly PendingEntry[]
  readonly grant: PlanGrant
  /** The bytes that the record has room for. */
  readonly bytesLeft: number
}

/** Something that ended within the plan call: a `run`, a `patch`, or a `step` under a granted slot. */
export type RanEntry = PendingEntry &
  PlanOutcome & {
    /** Only a step has it: whether it has something to undo. */
    readonly undo?: boolean
  }

/** A branch as a saga has it, without what the plan itself says. */
export type PlannedBranch = Omit<SagaBranchRequest, 'id' | 'after'>

/** Something to be called, or to be waited for, once the answer is saved. */
export type NextEntry =
  | (PlanEntry & { readonly is: 'step'; readonly branch: StepCall })
  | (PlanEntry & { readonly is: 'call'; readonly branch: PlannedBranch })
  | (PlanEntry & { readonly is: 'timer' | 'signal'; readonly branch: Pick<SagaWaitRequest, 'wait'> })

/** A local step that the handler runs in a call of its own. */
export interface StepCall {
  /** `~` and a number from `grant.from` on. No two steps have the same. */
  readonly slot: string
  readonly input?: JsonValue
  /** Whether the step has something to undo. */
  readonly undo: boolean
  readonly role?: 'pivot' | 'retriable'
}

/** Why a plan call was not answered with a plan. Nothing is undone, and a person is told. */
export interface PlanRefusal {
  readonly code:
    | 'WORKFLOW_CHANGED'
    | 'WORKFLOW_UNKNOWN'
    | 'WORKFLOW_VERSION_UNKNOWN'
    | 'WORKFLOW_RULE_BROKEN'
    | 'SLOT_TAKEN'
    | 'ALREADY_COMPENSATED'
    | 'GID_REUSED'
  readonly message: string
  /** The id that it is about. */
  readonly id?: string
  /** The record has this under the id. */
  readonly journaled?: Pick<PlanEntry, 'is' | 'name'>
  /** The function asks for this under the id. It is absent if it asks for nothing. */
  readonly asked?: Pick<PlanEntry, 'is' | 'name'>
}

/**
 * How a generation ends. `continue` has the input of the next one, which begins with an empty journal. `seen` is there if the
 * journal has signals that came too late for the function: it had seen so many entries when it went on. The next generation gets
 * the signals behind them.
 */
export type PlanEnd =
  | { readonly done: JsonValue }
  | { readonly failed: PlanFailure }
  | { readonly continue: JsonValue; readonly seen?: number }

/**
 * Says when to plan again: at once, when anything pending ends, or when all of it has or something has failed. Or it says how
 * the generation ends, or why there is no plan.
 */
export type PlanThen = 'now' | 'any' | 'all' | PlanEnd | { readonly refused: PlanRefusal }

export interface PlanAnswer extends Pick<PlanCall, 'v' | 'gid' | 'generation' | 'plan'> {
  /** It may be absent only in a refusal. */
  readonly version?: number
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
