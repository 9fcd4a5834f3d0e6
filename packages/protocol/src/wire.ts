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
 * A JSON value as a caller may write it. An object whose type is an interface has no index signature, and so is no
 * `JsonValue` by its type; no function is such an object.
 */
export type PayloadValue =
  | JsonValue
  | readonly PayloadValue[]
  | { readonly [key: string]: PayloadValue }
  | (object & { readonly apply?: never })

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

/** Holds the fields that the branches of every kind have. */
interface BranchRequest {
  /** A JSON value, delivered as application/json. Exclusive with `body`. */
  readonly payload?: PayloadValue
  /** A text, delivered byte for byte (UTF-8) with `contentType`. */
  readonly body?: string
  /** Only with `body`. Default text/plain; charset=utf-8. */
  readonly contentType?: string
  readonly retry?: Partial<RetryPolicy>
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** One branch of a saga, as submitted. */
export interface SagaBranchRequest extends BranchRequest {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  /** The URL of the forward call (POST). */
  readonly action: string
  /** The URL of the call that undoes it. Without one there is nothing to undo. */
  readonly compensation?: string
  /** Ids of the branches that must have succeeded before. Default: the branch before this one; [] starts at once. */
  readonly after?: readonly string[]
}

/** One branch of a message, as submitted. It is called until it succeeds. */
export interface MessageBranchRequest extends BranchRequest {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  /** The URL that is called (POST). */
  readonly action: string
}

/** The body of POST /v1/transactions/{gid}/branches. Sent before its client tries the branch. */
export interface TccBranchRequest extends BranchRequest {
  /** The client chooses it, since it tries the branch under this id. */
  readonly id: string
  /** The URL of the call (POST) that makes final what the try has set aside. */
  readonly confirm: string
  /** The URL of the call (POST) that gives back what the try has set aside, or may have. */
  readonly cancel: string
}

/** Holds the fields that the submits of every kind have. */
interface CommonRequest {
  /** If it is absent, the server makes one. */
  readonly gid?: string
  readonly retry?: Partial<RetryPolicy>
  readonly timeoutMs?: number
  /** If it is 0, every branch result is durable before the next call (strict mode). */
  readonly checkpointMs?: number
  /** Sent with every branch call; a branch's own header of the same name wins. */
  readonly headers?: Readonly<Record<string, string>>
  /** If it is `memory`, the answer comes before the accept is durable. The field is not part of the content. */
  readonly ack?: 'durable' | 'memory'
}

export interface SagaSubmitRequest extends CommonRequest {
  readonly kind?: 'saga'
  readonly branches: readonly SagaBranchRequest[]
  /** Counts from accept. If it passes before all actions have succeeded, the transaction turns around. */
  readonly deadlineMs?: number
  /** This is the time from accept to the first call. */
  readonly delayMs?: number
}

/** Accepted as prepared; its branches are registered one by one, each before its client tries it. */
export interface TccSubmitRequest extends CommonRequest {
  readonly kind: 'tcc'
  /** Counts from accept. If it passes before the submit, every branch is cancelled. Default 35,000. */
  readonly deadlineMs?: number
}

/** A message with a `check` is accepted as prepared, and one without as submitted. */
export interface MessageSubmitRequest extends CommonRequest {
  readonly kind: 'message'
  readonly branches: readonly MessageBranchRequest[]
  /** If it is true, all branches are called at once instead of one after the other. */
  readonly concurrent?: boolean
  /** This is the time from accept to the first call of a branch. */
  readonly delayMs?: number
  readonly check?: MessageCheckRequest
}

/** The query-back: who is asked whether the sender's own database transaction has committed. */
export interface MessageCheckRequest {
  /** Called with GET. 200: it has, 409: it never will, 425: not yet. */
  readonly url: string
  /**
   * Counts from accept. The sender is asked if the message has been neither submitted nor aborted by then. Default
   * 35,000.
   */
  readonly afterMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The body of POST /v1/transactions. */
export type SubmitRequest = SagaSubmitRequest | TccSubmitRequest | MessageSubmitRequest

/** The body of POST /v1/transactions/{gid}/abort, which may be left out. */
export interface AbortRequest {
  /** Kept with the decision and shown. At most 1,024 characters. */
  readonly reason?: string
}

/** `check-failed`: the query-back of a message says that its sender's transaction has not committed. */
export type AbortCause = 'branch-failed' | 'retry-limit' | 'deadline' | 'requested' | 'check-failed'

export interface AbortView {
  readonly cause: AbortCause
  readonly branchId?: string
  readonly at: number
  /**
   * This is the text of the caller that asked for the abort. It stays here also when it is JSON, whose `code` and
   * `message` then stand beside it.
   */
  readonly reason?: string
  /**
   * The `code` of the JSON that the branch answered, for example `INSUFFICIENT_FUNDS`; else that of a `reason` in
   * JSON.
   */
  readonly code?: string
  /** The `message` beside that `code`. */
  readonly message?: string
}

/** `waiting`: answered unknown or ongoing, asked again at `nextAt`. */
export type OpState = 'idle' | 'calling' | 'waiting' | 'succeeded' | 'failed'

export interface OpView {
  readonly op: Op
  /** It is shown without its query, which may hold a secret. */
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
  /** A message with a check has it: at this instant its sender is asked, if the message is still prepared. */
  readonly checkAt?: number
  readonly finishedAt?: number
  /** 1 at accept. It grows when a node takes it up: a prepared one that was decided, or any after a break. */
  readonly epoch: number
  readonly attention?: string
  readonly abort?: AbortView
  /** Only a message has it: its query-back. */
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
  /** It is opaque. Pass it as `cursor` for the next page. It is absent on the last page. */
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
