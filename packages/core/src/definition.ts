import type { BranchId, RetryPolicy } from '@counterstep/protocol'

/** What a transaction is to do: the request with its defaults filled in. Never changes after accept. */
export type Definition = SagaDefinition | TccDefinition | MessageDefinition

interface Common {
  readonly retry: RetryPolicy
  /** Of a branch call. */
  readonly timeoutMs: number
  readonly checkpointMs: number
  /** The words ONGOING and FAILURE in an answer's body count, whatever its status. */
  readonly wordsCount?: true
  /** What the face that accepted it wants to find again. The core only keeps it. */
  readonly note?: string
}

export interface SagaDefinition extends Common {
  readonly kind: 'saga'
  readonly branches: readonly SagaBranch[]
  readonly deadlineMs?: number
  /** At the deadline, actions under way that are all that is missing are waited for: success then is success. */
  readonly lastActionsMayEndLate?: true
  readonly delayMs?: number
}

export interface TccDefinition extends Common {
  readonly kind: 'tcc'
  /** From prepare; when it has passed before the submit, the branches are cancelled. */
  readonly deadlineMs: number
  /** Of every branch call. */
  readonly headers: Readonly<Record<string, string>>
}

export interface MessageDefinition extends Common {
  readonly kind: 'message'
  readonly branches: readonly MessageBranch[]
  /** All branches at once, instead of one after the other. */
  readonly concurrent: boolean
  /** From accept to the first call. */
  readonly delayMs?: number
  /** Without it the message is submitted from the start. */
  readonly check?: MessageCheck
}

/** Who is asked whether the sender's database transaction has committed, when nobody has said so for `afterMs`. */
export interface MessageCheck {
  readonly url: string
  readonly afterMs: number
  readonly headers: Readonly<Record<string, string>>
}

/** What all branches have. An empty URL is a call that has succeeded without being sent. */
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
  /** Positions of the branches that must have succeeded before. */
  readonly after: readonly number[]
}

export interface TccBranch extends BranchTarget {
  readonly confirm: string
  readonly cancel: string
}

export interface MessageBranch extends BranchTarget {
  readonly action: string
}
