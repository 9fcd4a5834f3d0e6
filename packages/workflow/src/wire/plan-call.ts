import type { JsonValue } from '@counterstep/protocol'

/** The kinds of things that a workflow's function may ask for. A `timer` is a `ctx.sleep`. */
export type AskKind = 'step' | 'call' | 'run' | 'timer' | 'signal'

/** A business failure, in its own words. */
export interface Failed {
  readonly code: string
  readonly message: string
  readonly details?: JsonValue
}

/** How something ended: with a value, without one, or by a business failure. */
export type Outcome =
  | { readonly value?: JsonValue; readonly failed?: never }
  | { readonly failed: Failed; readonly value?: never }

/** Says what an id stands for. Both are compared with what the function asks for under this id. */
export interface Identified {
  readonly id: string
  readonly is: AskKind | 'patch'
  /** The step's name, the URL of a call, the name of a signal, and else the id. */
  readonly name: string
}

/** Something that has ended, and what came of it. A `patch` is the answer that `ctx.patched` gave. */
export type JournalEntry = Identified &
  Outcome & {
    /** Only a local step has one, such as `~3`. */
    readonly slot?: string
    /** The `at` of the plan that was the first to see this entry, or that ran it. */
    readonly at: number
  }

/** Something that was planned and has not ended yet. */
export interface PendingEntry extends Identified {
  readonly slot?: string
}

/** The slots that a plan call may run. With a `count` of 0 it runs none, and `from` is the first free one. */
export interface Grant {
  readonly from: number
  readonly count: number
}

/** The body of the call that asks a workflow's function what comes next. */
export interface PlanCall {
  readonly v: 1
  readonly gid: string
  readonly workflow: string
  /** It is absent until a plan has been accepted, if the submit named none. */
  readonly version?: number
  readonly generation: number
  readonly plan: number
  /** When this generation was accepted. */
  readonly acceptedAt: number
  /** The `at` of the first plan of this generation, which is later than `acceptedAt` if the workflow was delayed. */
  readonly startAt: number
  /** When this plan was opened, by the store's clock. */
  readonly at: number
  readonly input?: JsonValue
  /** In the order in which the results came. */
  readonly journal: readonly JournalEntry[]
  readonly pending: readonly PendingEntry[]
  readonly grant: Grant
  /** The record has room for so much more. */
  readonly bytesLeft: number
}
