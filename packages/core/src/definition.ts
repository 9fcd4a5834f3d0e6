import type { BranchId, RetryPolicy } from '@counterstep/protocol'
import type { Tags } from './ports/store.ts'

/** The work of a transaction: the request with its defaults filled in. It never changes after the accept. */
export type Definition =
  | SagaDefinition
  | TccDefinition
  | XaDefinition
  | MessageDefinition
  | WorkflowDefinition
  | RecordedDefinition

interface Common {
  readonly retry: RetryPolicy
  /** The time limit of one branch call. */
  readonly timeoutMs: number
  readonly checkpointMs: number
  /** The name and the tags by which it is found. */
  readonly name?: string
  readonly tags?: Tags
  /** The word ONGOING or FAILURE in the body of an answer decides its result, whatever its status. */
  readonly wordsCount?: true
  /** Its branches are called by JSON-RPC where their URL says so. */
  readonly jsonRpc?: true
  /** Its branches may be called over gRPC, with bodies in base64. */
  readonly callsGrpc?: true
  /** A text that the HTTP API that accepted the transaction wants to read again. The core only keeps it. */
  readonly note?: string
  /** The trace of the caller that submitted it. */
  readonly trace?: TraceContext
  /** A short hash of who submitted it. Those whose rows come due at one instant take turns by it. */
  readonly submitter?: string
}

/** A place in a trace, as W3C Trace Context says. */
export interface TraceContext {
  /** The `traceparent`, 55 characters. */
  readonly parent: string
  /** The `tracestate`, at most 512 characters. */
  readonly state?: string
}

export interface SagaDefinition extends Common {
  readonly kind: 'saga'
  readonly branches: readonly SagaBranch[]
  readonly deadlineMs?: number
  /** When only actions under way are missing at the deadline, they are waited for, and their success still counts. */
  readonly lastActionsMayEndLate?: true
  readonly delayMs?: number
  /**
   * This is present only if a request or the output is built from values of answers. Otherwise nothing of an answer is
   * kept.
   */
  readonly values?: SagaValues
}

export interface SagaValues {
  /** For each branch, the JSON pointers of the values that are kept of its action's answer. */
  readonly kept: readonly (readonly string[])[]
  /** It is built when the saga has succeeded. A value that is not there is null in it. */
  readonly output?: JsonTemplate
  /** The room for all values that a workflow keeps. It is marked if one of them is lost. Absent: KEPT_VALUES_BYTES_MAX. */
  readonly bytesMax?: number
}

/** A JSON text in pieces. The values of the references stand between the texts. */
export type JsonTemplate = readonly (string | ValueReference)[]

/** It names a value that is kept of the answer of a branch's action. */
export interface ValueReference {
  /** The position of the branch. */
  readonly from: number
  /** The place in the branch's list of kept values. */
  readonly value: number
  /** The JSON text that stands for a value that is not there. */
  readonly else?: string
}

/** The parts of a request that have values of other branches. The rest of the request is fixed. */
export interface RequestTemplate {
  /** The values of the places `{name}` in the URL. */
  readonly url?: Readonly<Record<string, ValueReference>>
  readonly body?: JsonTemplate
  readonly headers?: Readonly<Record<string, ValueReference>>
}

export interface TccDefinition extends Common {
  readonly kind: 'tcc'
  /** The time from the prepare. If it passes before the submit, the branches are cancelled. */
  readonly deadlineMs: number
  /** Every branch call carries these. */
  readonly headers: Readonly<Record<string, string>>
}

/** The branches are transactions of databases that their services have prepared. They are registered as those of a TCC. */
export interface XaDefinition extends Omit<TccDefinition, 'kind'> {
  readonly kind: 'xa'
}

/** Its branches are registered while it is prepared, and get one of two calls after the decision. */
export function hasTwoPhases(definition: Definition): definition is TccDefinition | XaDefinition {
  return definition.kind === 'tcc' || definition.kind === 'xa'
}

export interface MessageDefinition extends Common {
  readonly kind: 'message'
  readonly branches: readonly MessageBranch[]
  /** Calls all branches at once, instead of one after the other. */
  readonly concurrent: boolean
  /** The time from the accept to the first call. */
  readonly delayMs?: number
  /** Without it the message is submitted from the start. */
  readonly check?: MessageCheck
}

/**
 * The query-back: a call that asks whether the sender's database transaction has committed. It is made when `afterMs`
 * have passed without a submit or an abort.
 */
export interface MessageCheck {
  readonly url: string
  readonly afterMs: number
  readonly headers: Readonly<Record<string, string>>
}

/** Code plans the steps, one plan call after the other. What it has planned stands in the progress. */
export interface WorkflowDefinition extends Common {
  readonly kind: 'workflow'
  /** The name of the function. */
  readonly workflow: string
  /** The URL of the handler, which plans, and runs the local steps. */
  readonly handler: string
  /** The input as JSON. */
  readonly input: string
  /** Absent: the first plan that is accepted pins one. */
  readonly version?: number
  /** The slots that each plan call may run local steps under. Absent: none. */
  readonly grants?: number
  /** Every call carries these. */
  readonly headers: Readonly<Record<string, string>>
  readonly deadlineMs?: number
  readonly delayMs?: number
}

/** A workflow of DTM. Its client runs it and reports what it has done, and is called back while it has not ended. */
export interface RecordedDefinition extends Common {
  readonly kind: 'recorded'
  /** The name of the function. It stands in the URL of the callback in place of an op. */
  readonly workflow: string
  readonly callback: Callback
}

export interface Callback extends Pick<BranchTarget, 'body' | 'contentType' | 'headers'> {
  readonly url: string
}

/** The fields that branches of every kind have. A call with an empty URL succeeds without being sent. */
export interface BranchTarget {
  readonly id: BranchId
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly retry?: RetryPolicy
  readonly timeoutMs?: number
}

export interface SagaBranch extends BranchTarget {
  readonly action: string
  readonly compensation?: string
  /** The positions of the branches that must have succeeded before. */
  readonly after: readonly number[]
  readonly actionTemplate?: RequestTemplate
  /** Absent: the compensation gets what the action gets. */
  readonly compensationContent?: CompensationContent
  /** The branch calls nothing: its action has an empty URL and is open while it waits. */
  readonly wait?: Wait
  /** Absent: the branch is compensable. */
  readonly role?: 'pivot' | 'retriable'
}

export type Wait = TimeWait | SignalWait

/** It ends `ms` milliseconds after it has opened, or at the instant `until`. */
export type TimeWait =
  | { readonly type: 'ms'; readonly ms: number | ValueReference }
  | { readonly type: 'until'; readonly until: number | ValueReference }

/** It ends by a signal of this name, whose payload is its answer. */
export interface SignalWait {
  readonly type: 'signal'
  readonly name: string
  /** Absent: it ends when the saga may wait no longer. */
  readonly timeoutMs?: number
  readonly onTimeout: 'abort' | 'continue'
}

export interface CompensationContent extends Pick<BranchTarget, 'body' | 'contentType' | 'headers'> {
  readonly template?: RequestTemplate
}

export interface TccBranch extends BranchTarget {
  readonly confirm: string
  readonly cancel: string
}

/** One URL gets both calls, each without a body. */
export interface XaBranch extends BranchTarget {
  readonly url: string
}

/** A branch that its client registers while the transaction is prepared. */
export type RegisteredBranch = TccBranch | XaBranch

export interface MessageBranch extends BranchTarget {
  readonly action: string
}
