import type { JsonValue, SagaBranchRequest, SagaWaitRequest } from '@counterstep/protocol'
import type { Failed, Identified, Outcome, PlanCall } from './plan-call.ts'

/** A branch as a saga has it, without what the plan itself says. */
export type PlannedBranch = Omit<SagaBranchRequest, 'id' | 'after'>

/** A local step that the handler runs in a call of its own. */
export interface PlannedSlot {
  readonly slot: string
  readonly input?: JsonValue
  readonly undo: boolean
  readonly role?: 'pivot' | 'retriable'
}

/** Something that ended within the plan call: a `run`, a `patch`, or a `step` under a granted slot. */
export type RanEntry = Identified &
  Outcome & {
    readonly slot?: string
    /** Whether the step can be undone. */
    readonly undo?: boolean
  }

/** Something to be called, or waited for, once this answer is saved. */
export type NextEntry =
  | (Identified & { readonly is: 'step'; readonly branch: PlannedSlot })
  | (Identified & { readonly is: 'call'; readonly branch: PlannedBranch })
  | (Identified & { readonly is: 'timer' | 'signal'; readonly branch: Pick<SagaWaitRequest, 'wait'> })

/** Why a plan call was not answered with a plan. Nothing is undone, and a person is told. */
export interface Refusal {
  readonly code:
    | 'WORKFLOW_CHANGED'
    | 'WORKFLOW_UNKNOWN'
    | 'WORKFLOW_VERSION_UNKNOWN'
    | 'WORKFLOW_RULE_BROKEN'
    | 'SLOT_TAKEN'
    | 'ALREADY_COMPENSATED'
  readonly message: string
  /** The id that it is about. */
  readonly id?: string
  /** The record has this under the id. */
  readonly journaled?: Pick<Identified, 'is' | 'name'>
  /** The function asks for this under the id. It is absent if it asks for nothing. */
  readonly asked?: Pick<Identified, 'is' | 'name'>
}

/**
 * When to plan again. `now`: at once. `any`: when something that is pending ends, `next` included. `all`: when all of it has
 * ended, or something has failed.
 */
export type Then = 'now' | 'any' | 'all' | PlanEnd | { readonly refused: Refusal }

/** How a generation ends. */
export type PlanEnd =
  | { readonly done: JsonValue | null }
  | { readonly failed: Failed }
  | { readonly continue: JsonValue | null }

export interface PlanAnswer extends Pick<PlanCall, 'v' | 'gid' | 'generation' | 'plan'> {
  /** It is absent only where no workflow was found. */
  readonly version?: number
  readonly ran: readonly RanEntry[]
  readonly next: readonly NextEntry[]
  readonly then: Then
}
