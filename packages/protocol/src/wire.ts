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
 * Allows a JSON value as a caller may write it. An object whose type is an interface has no index signature, so that
 * TypeScript does not take it for a `JsonValue`. The last type allows such an object, and refuses a function.
 */
export type PayloadValue =
  | JsonValue
  | readonly PayloadValue[]
  | { readonly [key: string]: PayloadValue }
  | (object & { readonly apply?: never })

/**
 * Says how an op is asked again after an unknown or ongoing answer. The n-th wait is drawn between a floor and
 * min(capMs, initialMs × factor^(n−1)). A `jitter` of 1 draws from the whole range, and 0 always takes the upper end.
 * `limit` is the number of failed attempts of an action after which the transaction turns around, and null is no
 * limit. Compensations ignore it and are asked again every `capMs`.
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
  /** This JSON value is delivered as application/json. It excludes `body`. */
  readonly payload?: PayloadValue
  /** This text is delivered byte for byte in UTF-8, with `contentType`. */
  readonly body?: string
  /** It is allowed only with `body`. The default is `text/plain; charset=utf-8`. */
  readonly contentType?: string
  readonly retry?: Partial<RetryPolicy>
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Describes one branch of a saga as it is submitted. */
export interface SagaBranchRequest extends BranchRequest {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  /** This URL is called with POST to do the branch's part. */
  readonly action: string
  /** This URL is called with POST to undo the action. Without it there is nothing to undo. */
  readonly compensation?: string
  /**
   * These branches must have succeeded before. The default is the branch before this one, and a branch with [] starts at
   * once.
   */
  readonly after?: readonly string[]
}

/** Describes one branch of a message as it is submitted. It is called until it succeeds. */
export interface MessageBranchRequest extends BranchRequest {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  /** This URL is called with POST. */
  readonly action: string
}

/** This is the body of POST /v1/transactions/{gid}/branches. The client sends it before it tries the branch. */
export interface TccBranchRequest extends BranchRequest {
  /** The client chooses it, since it tries the branch under this id. */
  readonly id: string
  /** This URL is called with POST to make final what the try has reserved. */
  readonly confirm: string
  /** This URL is called with POST to give back what the try has reserved, or may have. */
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
  /** They are sent with every branch call. A branch's own header of the same name replaces one of them. */
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

/** A TCC is accepted as prepared. Its branches are registered one by one, each before the client tries it. */
export interface TccSubmitRequest extends CommonRequest {
  readonly kind: 'tcc'
  /** Counts from accept. If it passes before the submit, every branch is cancelled. The default is 35,000. */
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

/** Describes the query-back, which asks the sender whether its own database transaction has committed. */
export interface MessageCheckRequest {
  /**
   * It is called with GET. The answer 200 says that the sender has committed, 409 that it never will, and 425 not
   * yet.
   */
  readonly url: string
  /**
   * Counts from accept. The sender is asked if the message has been neither submitted nor aborted by then. The default
   * is 35,000.
   */
  readonly afterMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** This is the body of POST /v1/transactions. */
export type SubmitRequest = SagaSubmitRequest | TccSubmitRequest | MessageSubmitRequest

/** This is the body of POST /v1/transactions/{gid}/abort, which may be left out. */
export interface AbortRequest {
  /** It is kept with the decision and shown. It has at most 1,024 characters. */
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
   * It is the `code` of the JSON that the branch answered, for example `INSUFFICIENT_FUNDS`, or that of a `reason` in
   * JSON.
   */
  readonly code?: string
  /** It is the `message` beside that `code`. */
  readonly message?: string
}

/** An op is `waiting` if its answer was unknown or ongoing. It is asked again at `nextAt`. */
export type OpState = 'idle' | 'calling' | 'waiting' | 'succeeded' | 'failed'

export interface OpView {
  readonly op: Op
  /** It is shown without its query, which may hold a secret. */
  readonly url?: string
  readonly state: OpState
  readonly attempts: number
  /** It is the result of the last answer. */
  readonly result?: Result
  readonly statusCode?: number
  /** It has up to 1 KiB of the last answer's body. */
  readonly answer?: string
  /** It says why the last attempt has no answer, for example `timeout`. */
  readonly error?: string
  /** The first attempt was sent at this instant. */
  readonly startedAt?: number
  /** The last answer came at this instant. */
  readonly endedAt?: number
  /** The last attempt took this long. */
  readonly durationMs?: number
  readonly nextAt?: number
}

export interface BranchView {
  readonly id: string
  readonly after: readonly string[]
  readonly ops: readonly OpView[]
}

/** Describes a transaction as GET shows it. Instants are whole epoch milliseconds by the store's clock. */
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
  /**
   * It is 1 at accept. It grows when a node takes the transaction: a prepared one after its decision, or any one
   * whose node has stopped working at it.
   */
  readonly epoch: number
  readonly attention?: string
  readonly abort?: AbortView
  /** It is the query-back, which only a message has. */
  readonly check?: OpView
  readonly branches: readonly BranchView[]
}

/** This is the answer to a submit. */
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

/** This is a problem of RFC 9457, with our stable `code` and, for a refused request, every fault. */
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
