import type { Fault } from './errors.ts'
import type { AttemptRun, ByHandView, PauseView, TrailEntry } from './trail.ts'
import type { EntryType, Kind, Op, Result, Status } from './words.ts'

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

/** Names a value that a branch answered. It is found in the answer of the branch's action. */
export interface AnswerReference {
  /**
   * The id of the branch. In an action it must be a branch that comes before. In a compensation it may also be the
   * branch itself.
   */
  readonly $from: string
  /** The JSON pointer (RFC 6901) of the value in the answer. The default is "", the whole answer. */
  readonly at?: string
  /** The value that is used where the answer has none. */
  readonly else?: PayloadValue
}

/** Names a value of the saga's input. */
export interface InputReference {
  /** The JSON pointer (RFC 6901) of the value in the input. */
  readonly $input: string
  readonly else?: PayloadValue
}

export type Reference = AnswerReference | InputReference

/**
 * A JSON value in which objects may be references. An object with any other name that begins with `$` is refused;
 * `{"$literal": x}` delivers x as it stands.
 */
export type TemplateValue = PayloadValue

/** Gives a URL with places `{name}` in its path or in the values of its parameters. Each value is percent-encoded. */
export interface UrlTemplate {
  readonly url: string
  /** The value of each place. In a compensation each needs an `else`. */
  readonly with?: Readonly<Record<string, Reference>>
}

/** Describes a compensation that gets a content of its own. Without any it gets `{}`. */
export interface CompensationRequest extends UrlTemplate {
  readonly payload?: PayloadValue
  readonly template?: TemplateValue
  readonly body?: string
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string | Reference>>
}

/** Describes one branch of a saga as it is submitted. */
export interface SagaBranchRequest extends Omit<BranchRequest, 'headers'> {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  /** This URL is called with POST to do the branch's part. */
  readonly action: string | UrlTemplate
  /**
   * This URL is called with POST to undo the action. Without it there is nothing to undo. A URL alone gets the action's
   * content and headers.
   */
  readonly compensation?: string | CompensationRequest
  /** A JSON value with references, delivered as application/json. Exclusive with `payload` and `body`. */
  readonly template?: TemplateValue
  readonly headers?: Readonly<Record<string, string | Reference>>
  /**
   * These branches must have succeeded before. The default is the branch before this one, and a branch with [] starts at
   * once.
   */
  readonly after?: readonly string[]
  /** The default is `compensable`. */
  readonly role?: SagaRole
}

/**
 * Says whether a branch can be undone. `compensable`: its compensation undoes it, if it has one. `pivot`: once it has
 * succeeded, the saga goes forward only. `retriable`: it comes after that point, and is called until it succeeds.
 */
export type SagaRole = 'compensable' | 'pivot' | 'retriable'

/** Describes a branch of a saga that calls nothing: it waits for a time, or for a signal. */
export interface SagaWaitRequest {
  /** The default is "01", "02", … by position. */
  readonly id?: string
  readonly after?: readonly string[]
  readonly wait: WaitRequest
}

export type WaitRequest = TimerRequest | UntilRequest | SignalWaitRequest

/** The wait ends this many milliseconds after it has opened. */
export interface TimerRequest {
  readonly ms: number | Reference
}

/** The wait ends at this instant: epoch milliseconds, or a date and time of RFC 3339 with its offset. */
export interface UntilRequest {
  readonly until: number | string | Reference
}

/** The wait ends when a signal of this name has come. The signal's payload is its answer. */
export interface SignalWaitRequest {
  readonly signal: string
  /** The default is what is left of 30 days from the accept. */
  readonly timeoutMs?: number
  /** `abort` turns the saga around, and `continue` goes on without an answer. The default is `abort`. */
  readonly onTimeout?: 'abort' | 'continue'
}

/** This is the body of POST /v1/transactions/{gid}/signals/{name}. */
export interface SignalRequest {
  /** The same id with the same name and payload is the same signal, however often it is sent. */
  readonly id: string
  readonly payload?: PayloadValue
}

/** This is the answer to a signal. `kept`: no wait of that name was open, and the next one to open will take it. */
export interface SignalView {
  readonly gid: string
  readonly name: string
  readonly id: string
  readonly state: 'taken' | 'kept'
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
  /** It groups transactions, for example `transfer`. It has 1 to 64 characters of `A-Z a-z 0-9 . _ : / -`. */
  readonly name?: string
  /** At most 8 words to find it by. Every reader sees them, so they are no place for a secret. */
  readonly tags?: Readonly<Record<string, string>>
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
  readonly branches: readonly (SagaBranchRequest | SagaWaitRequest)[]
  /** Counts from accept. If it passes before all actions have succeeded, the transaction turns around. */
  readonly deadlineMs?: number
  /** This is the time from accept to the first call. */
  readonly delayMs?: number
  /** Any JSON value, to which templates refer by `$input`. */
  readonly input?: PayloadValue
  /** A template over all branches. Its value is shown when the saga has succeeded. */
  readonly output?: TemplateValue
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

/** A step that the client of a recorded workflow has reported. */
export interface RecordView {
  readonly branchId: string
  /** A word of its client. */
  readonly op: string
  readonly status: 'succeeded' | 'failed'
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

/**
 * The body of POST /v1/transactions for a workflow, whose code plans the branches while it runs. A server takes it only where it
 * accepts new kinds.
 */
export interface WorkflowSubmitRequest extends CommonRequest {
  readonly kind: 'workflow'
  /** The name of the function. It is that of the transaction, too, unless `name` says another one. */
  readonly workflow: string
  /** This URL is called with POST for each plan, and to run and undo the local steps. */
  readonly handler: string
  /** Any JSON value, which the function gets. The default is null. */
  readonly input?: PayloadValue
  /** Where there are grants it must be given. The default is the newest version that the handler has. */
  readonly version?: number
  /**
   * The slots that one plan call may run local steps under, 0 to 32. The default is 0. A handler without a barrier must have
   * none, because it could not tell which of its steps have run.
   */
  readonly grants?: number
  /** Counts from accept. If it passes before the function has returned, the transaction turns around. */
  readonly deadlineMs?: number
  /** This is the time from accept to the first plan. */
  readonly delayMs?: number
}

/** This is the body of POST /v1/transactions. */
export type SubmitRequest =
  | SagaSubmitRequest
  | TccSubmitRequest
  | MessageSubmitRequest
  | WorkflowSubmitRequest

/** This is the body of POST /v1/transactions/{gid}/abort, which may be left out. */
export interface AbortRequest {
  /** It is kept with the decision and shown. It has at most 1,024 characters. */
  readonly reason?: string
}

/**
 * `check-failed`: the query-back of a message says that its sender's transaction has not committed.
 * `value-unusable`: a request could not be built, because a branch's answer lacks the value that it uses.
 * `signal-timeout`: a signal did not come in time. `workflow-failed`: the code of a workflow ended with a failure.
 */
export type AbortCause =
  | 'branch-failed'
  | 'retry-limit'
  | 'deadline'
  | 'requested'
  | 'check-failed'
  | 'value-unusable'
  | 'signal-timeout'
  | 'workflow-failed'

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

/**
 * An op is `waiting` if its answer was unknown or ongoing. It is asked again at `nextAt`. A branch that waits for a time or
 * a signal is `open` until then, and ends at `nextAt` at the latest. A compensation is `by-hand` if a person did its action
 * elsewhere and must undo that there, too.
 */
export type OpState = 'idle' | 'calling' | 'waiting' | 'open' | 'by-hand' | 'succeeded' | 'failed'

/** How far the code of a workflow has come. */
export interface WorkflowView {
  /** The name of the function. */
  readonly name: string
  readonly version?: number
  readonly generation: number
  /** When this generation began. The first one began with the transaction. */
  readonly generationAt?: number
  /** The number of the plan in hand. */
  readonly plan: number
  /** When the next plan is asked for: at once, when anything pending ends, or when all of it has. */
  readonly waitsFor?: 'now' | 'any' | 'all'
  readonly steps: number
  readonly stepsMax: number
  readonly journalBytes: number
  readonly journalBytesMax: number
}

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
  /** The service that is called: its configured name, or else the host and port of the URL. */
  readonly service?: string
  /** Only an op that has failed or waited at least once has them, the oldest first. At most 8. */
  readonly runs?: readonly AttemptRun[]
  readonly byHand?: ByHandView
  /** An operator has changed its request. */
  readonly edited?: true
}

export interface BranchView {
  readonly id: string
  readonly after: readonly string[]
  /** It is absent for a compensable branch. */
  readonly role?: 'pivot' | 'retriable'
  /** Only a branch that waits has it. Its one op is called `action`, and is never sent. */
  readonly wait?: WaitView
  /** Only a step of a workflow has it, and the `name` and the `rank`: what the code has planned. */
  readonly is?: EntryType
  /** The name of a local step or of a signal, or the target of a call. A slot of which no plan has told says that it may have run. */
  readonly name?: string
  /** The name by which the code knows a local step. The `id` is its slot. */
  readonly stepId?: string
  /** The highest rank is undone first. The steps of one plan share one, but for local steps that ran within its call. */
  readonly rank?: number
  readonly ops: readonly OpView[]
}

/** It says what the branch waits for. A time that another branch answers stands only in the op, once it is known. */
export interface WaitView {
  readonly ms?: number
  readonly until?: number
  readonly signal?: string
  readonly timeoutMs?: number
  readonly onTimeout?: 'abort' | 'continue'
}

/** Describes a signal that the transaction has got. Its payload is not shown. */
export interface ReceivedSignalView {
  readonly name: string
  readonly id: string
  readonly state: 'taken' | 'kept'
  /** The id of the branch that has taken it. */
  readonly branchId?: string
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
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
  /** The trace that its submit came in, 32 hexadecimal digits. */
  readonly traceId?: string
  /** It says what the transaction waits for: `SERVICE OP OUTCOME`, for example `bank-a compensate 500`. */
  readonly problem?: string
  readonly attention?: string
  readonly paused?: PauseView
  /** The commands of operators, the oldest first. It is absent if there is none. */
  readonly trail?: readonly TrailEntry[]
  readonly abort?: AbortView
  /** Only a saga that asked for it and has succeeded has it. */
  readonly output?: JsonValue
  /** Only a message has it, its query-back, and a recorded workflow, its callback. */
  readonly check?: OpView
  /** Only a recorded workflow has them: the steps that its client has reported, the oldest first. */
  readonly records?: readonly RecordView[]
  /** Only a workflow has it, and its plan call, and what its code returned once it has succeeded. */
  readonly workflow?: WorkflowView
  readonly plan?: OpView
  readonly result?: JsonValue
  /** Since this instant the saga cannot be aborted any more. */
  readonly noReturnAt?: number
  /** Only a saga that has got a signal has them, the oldest first. */
  readonly signals?: readonly ReceivedSignalView[]
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
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly problem?: string
  /** The attempts of the op that `problem` names. The next one is due at `dueAt`. */
  readonly attempts?: number
  readonly paused?: true
  /** An op of it was declared done by a person. */
  readonly byHand?: true
  readonly edited?: true
}

export interface TransactionPage {
  readonly items: readonly TransactionSummary[]
  /** It is opaque. Pass it as `cursor` for the next page. It is absent on the last page. */
  readonly cursor?: string
  /**
   * The page is short because a search looks through a bounded number of rows. It has come to this instant: of the accept,
   * or of the next attempt where that is the order.
   */
  readonly searchedTo?: number
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
