import type { BranchId, RetryPolicy } from '@counterstep/protocol'

/** What a saga is to do: the request with its defaults filled in. Never changes after accept. */
export interface SagaDefinition {
  readonly kind: 'saga'
  readonly branches: readonly SagaBranch[]
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly checkpointMs: number
  readonly deadlineMs?: number
  readonly delayMs?: number
}

export interface SagaBranch {
  readonly id: BranchId
  readonly action: string
  readonly compensation?: string
  readonly body: string
  readonly contentType: string
  /** Positions of the branches that must have succeeded before. */
  readonly after: readonly number[]
  readonly retry?: RetryPolicy
  readonly timeoutMs?: number
  readonly headers: Readonly<Record<string, string>>
}

/** A kind is one member here, one file of rules, and one case in each switch over it. */
export type Definition = SagaDefinition
