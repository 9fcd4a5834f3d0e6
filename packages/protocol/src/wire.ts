import type { Fault } from './errors.ts'
import type { Kind, Op, Result, Status } from './words.ts'

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/**
 * How an op is asked again after an unknown or ongoing answer.
 * The n-th wait is drawn between a floor and min(capMs, initialMs × factor^(n−1)); `jitter` 1 draws over all of
 * that, 0 always takes the upper end. `limit` is the number of failed attempts of an action after which the
 * transaction turns around; null is no limit. Compensations ignore it: they go on at the cap.
 */
export interface RetryPolicy {
  readonly initialMs: number
  readonly factor: number
  readonly capMs: number
  readonly jitter: number
  readonly limit: number | null
}

/** One branch of a saga, as submitted. */
export interface SagaBranchRequest {
  /** Default: "01", "02", … by position. */
  readonly id?: string
  /** The URL of the forward call (POST). */
  readonly action: string
  /** The URL of the call that undoes it. Without one there is nothing to undo. */
  readonly compensation?: string
  /** A JSON value, delivered as application/json. Exclusive with `body`. */
  readonly payload?: JsonValue
  /** A text, delivered byte for byte (UTF-8) with `contentType`. */
  readonly body?: string
  /** Only with `body`. Default text/plain; charset=utf-8. */
  readonly contentType?: string
  /** Ids of the branches that must have succeeded before. Default: the branch before this one; [] starts at once. */
  readonly after?: readonly string[]
  readonly retry?: Partial<RetryPolicy>
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The body of POST /v1/transactions. */
export interface SubmitRequest {
  /** Default: one is made. */
  readonly gid?: string
  readonly kind?: 'saga'
  readonly branches: readonly SagaBranchRequest[]
  readonly retry?: Partial<RetryPolicy>
  readonly timeoutMs?: number
  /** From accept; when it has passed before all actions succeeded, the transaction turns around. */
  readonly deadlineMs?: number
  /** From accept to the first call. */
  readonly delayMs?: number
  /** 0: every branch result is durable before the next call (strict mode). */
  readonly checkpointMs?: number
  /** Sent with every branch call; a branch's own header of the same name wins. */
  readonly headers?: Readonly<Record<string, string>>
  /** `memory`: answered before the accept is durable. Not part of the content. */
  readonly ack?: 'durable' | 'memory'
}

/** `check-failed`: the query-back of a message says that its sender's transaction has not committed. */
export type AbortCause = 'branch-failed' | 'retry-limit' | 'deadline' | 'requested' | 'check-failed'

export interface AbortView {
  readonly cause: AbortCause
  readonly branchId?: string
  readonly at: number
  /** In the words of whoever asked for it. */
  readonly reason?: string
}

/** `waiting`: answered unknown or ongoing, asked again at `nextAt`. */
export type OpState = 'idle' | 'calling' | 'waiting' | 'succeeded' | 'failed'

export interface OpView {
  readonly op: Op
  readonly url?: string
  readonly state: OpState
  readonly attempts: number
  /** The last answer. */
  readonly result?: Result
  readonly statusCode?: number
  /** Up to 1 KiB of the last answer's body. */
  readonly answer?: string
  /** Why the last attempt has no answer, e.g. `timeout`. */
  readonly error?: string
  /** When the first attempt was sent. */
  readonly startedAt?: number
  /** When the last answer came. */
  readonly endedAt?: number
  /** How long the last attempt took. */
  readonly durationMs?: number
  readonly nextAt?: number
}

export interface BranchView {
  readonly id: string
  readonly after: readonly string[]
  readonly ops: readonly OpView[]
}

/** A transaction as GET shows it. Instants are integer milliseconds from the epoch, by the store's clock. */
export interface TransactionView {
  readonly gid: string
  readonly kind: Kind
  /** A final status is shown only when it is durable. */
  readonly status: Status
  readonly createdAt: number
  readonly updatedAt: number
  readonly startAt?: number
  readonly deadlineAt?: number
  /** Of a message with a query-back: when it is asked, while it is still prepared. */
  readonly checkAt?: number
  readonly finishedAt?: number
  /** How many times it was claimed after a break. */
  readonly epoch: number
  readonly attention?: string
  readonly abort?: AbortView
  /** Of a message: its query-back. */
  readonly check?: OpView
  readonly branches: readonly BranchView[]
}

/** The answer to a submit. */
export interface SubmitView extends TransactionView {
  readonly ack: 'durable' | 'memory'
}

export interface TransactionSummary {
  readonly gid: string
  readonly kind: Kind
  readonly status: Status
  readonly createdAt: number
  readonly updatedAt: number
  readonly dueAt: number
  readonly epoch: number
  readonly retrying: boolean
  readonly attention: boolean
}

export interface TransactionPage {
  readonly items: readonly TransactionSummary[]
  /** Opaque; pass it as `cursor` for the next page. Absent on the last one. */
  readonly cursor?: string
}

/** RFC 9457, with our stable `code` and, for a refused request, every fault. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly gid?: string
  readonly path?: string
  readonly faults?: readonly Fault[]
}
