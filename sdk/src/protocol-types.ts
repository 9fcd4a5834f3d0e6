// Types of the protocol under the names that users import, each with the text that an editor shows.
import type * as protocol from '@counterstep/protocol'

/**
 * The cause of an abort: a branch failed, an action failed as often as its policy allows, the deadline passed, or a
 * client asked for it.
 *
 * @example
 * ```ts
 * const isLate = (cause: AbortCause) => cause === 'deadline'
 * ```
 */
export type AbortCause = protocol.AbortCause

/**
 * Says why and when (`at`, epoch milliseconds) a transaction turned around, and which branch caused that, if one did.
 *
 * @example
 * ```ts
 * const abort: AbortView | undefined = (await client.get(gid))?.abort
 * if (abort !== undefined) console.log(abort.cause, abort.branchId, new Date(abort.at))
 * ```
 */
export type AbortView = protocol.AbortView

/**
 * One branch of a transaction, with every op that was asked of it.
 *
 * @example
 * ```ts
 * const isDone = ({ ops }: BranchView) => ops.some(({ op, state }) => op === 'action' && state === 'succeeded')
 * ```
 */
export type BranchView = protocol.BranchView

/**
 * A code of the server's errors, as the list of errors has them. Codes are stable; texts are not.
 *
 * @example
 * ```ts
 * const again: ReadonlySet<ErrorCode> = new Set(['SAGA_OVER_CAPACITY', 'SAGA_STOPPING'])
 * ```
 */
export type ErrorCode = protocol.ErrorCode

/**
 * The meaning of an error: `failure`, a definite no; `ongoing`, not yet; `unavailable`, ask the same again; `bug`, a
 * fault to be mended.
 *
 * @example
 * ```ts
 * const isWorthAnAlert = (meaning: ErrorMeaning) => meaning === 'bug'
 * ```
 */
export type ErrorMeaning = protocol.ErrorMeaning

/**
 * One thing that is wrong with a request: where (a JSON pointer into the body, or the name of a header or query
 * parameter), and what.
 *
 * @example
 * ```ts
 * const told = ({ path, code, message }: Fault) => `${path}: ${message} (${code})`
 * ```
 */
export type Fault = protocol.Fault

/**
 * A status after which nothing changes: `succeeded`; `failed`, when all that may have run is undone; `stopped`, ended
 * by an operator before that.
 *
 * @example
 * ```ts
 * const exitCodes: Record<FinalStatus, number> = { succeeded: 0, failed: 1, stopped: 2 }
 * ```
 */
export type FinalStatus = protocol.FinalStatus

/**
 * A value that JSON can hold. Numbers have to be exact. Send a number that a double cannot hold as a text.
 *
 * @example
 * ```ts
 * const payload: JsonValue = { account: 'alice', cents: 1_250, tags: ['rent', null] }
 * ```
 */
export type JsonValue = protocol.JsonValue

/**
 * A kind of transaction.
 *
 * @example
 * ```ts
 * const kind: Kind = 'saga'
 * ```
 */
export type Kind = protocol.Kind

/**
 * The operation that a branch is asked for: `action` and `compensate` in a saga, `try`, `confirm` and `cancel` in a
 * TCC; `msg` is the query-back of a message.
 *
 * @example
 * ```ts
 * const delta = (op: Op, cents: number) => (op === 'compensate' ? cents : -cents)
 * ```
 */
export type Op = protocol.Op

/**
 * Says how far an op of a branch has come. Instants are epoch milliseconds, durations milliseconds.
 *
 * @example
 * ```ts
 * const slow = (op: OpView) => (op.durationMs ?? 0) > 1_000 || op.attempts > 3
 * ```
 */
export type OpView = protocol.OpView

/**
 * The result that a branch's answer reports. `unknown` (a timeout, a 500, anything else) is asked again.
 *
 * @example
 * ```ts
 * const goesOn = (result: Result) => result === 'unknown' || result === 'ongoing'
 * ```
 */
export type Result = protocol.Result

/**
 * Says how an op is asked again after an unknown or ongoing answer: the n-th wait is at most `initialMs` ×
 * `factor`ⁿ⁻¹ and at most `capMs` (milliseconds), drawn at random by `jitter` (0 to 1). After `limit` attempts of an
 * action the transaction turns around; null is no limit. Compensations are asked for ever.
 *
 * @example
 * ```ts
 * const patient: Partial<RetryPolicy> = { initialMs: 500, factor: 2, capMs: 60_000, limit: null }
 * const trip = saga({ retry: patient })
 * ```
 */
export type RetryPolicy = protocol.RetryPolicy

/**
 * A branch as it is sent to the server; `branch` and `branchOf` make it.
 *
 * @example
 * ```ts
 * const raw: SagaBranchRequest = { id: 'debit', action: 'http://bank-a/debit', payload: { cents: 1_250 }, timeoutMs: 5_000 }
 * ```
 */
export type SagaBranchRequest = protocol.SagaBranchRequest

/**
 * A transaction's status: `submitted` while it goes forward, `aborting` while it is undone, and then a final one.
 *
 * @example
 * ```ts
 * const words: Partial<Record<Status, string>> = { submitted: 'under way', aborting: 'being undone' }
 * ```
 */
export type Status = protocol.Status

/**
 * The body of a submit. `saga` makes it; a hand-written one can be submitted too. Times are milliseconds.
 *
 * @example
 * ```ts
 * const request: SubmitRequest = { gid: 'transfer-17', deadlineMs: 60_000, branches: [{ action: 'http://bank-a/debit' }] }
 * await client.submit(request)
 * ```
 */
export type SubmitRequest = protocol.SubmitRequest

/**
 * The answer to a submit: the transaction, and whether its acceptance is durable already.
 *
 * @example
 * ```ts
 * const { gid, status, ack }: SubmitView = await client.submit(transfer)
 * ```
 */
export type SubmitView = protocol.SubmitView

/**
 * A page of a list, and where the next one begins.
 *
 * @example
 * ```ts
 * const { items, cursor }: TransactionPage = await client.page({ status: 'aborting' })
 * ```
 */
export type TransactionPage = protocol.TransactionPage

/**
 * A transaction as a list shows it. Instants are epoch milliseconds.
 *
 * @example
 * ```ts
 * for await (const summary of client.list()) if (summary.attention) console.log(summary.gid)
 * ```
 */
export type TransactionSummary = protocol.TransactionSummary

/**
 * A transaction with its branches, as the server shows it. Instants are epoch milliseconds, by the clock of its store.
 *
 * @example
 * ```ts
 * const view: TransactionView = await client.wait(gid)
 * console.log(view.status, view.branches.length)
 * ```
 */
export type TransactionView = protocol.TransactionView

/**
 * A branch of a message as it is sent to the server. It is called until it succeeds.
 *
 * @example
 * ```ts
 * const mail: MessageBranchRequest = { action: 'http://mail/welcome', payload: { user: 'alice' } }
 * ```
 */
export type MessageBranchRequest = protocol.MessageBranchRequest

/**
 * Says which URL the server asks (GET) whether the local transaction of a message has committed, and after which time
 * (`afterMs`).
 *
 * @example
 * ```ts
 * const check: MessageCheckRequest = { url: 'http://shop/query-prepared', afterMs: 10_000 }
 * ```
 */
export type MessageCheckRequest = protocol.MessageCheckRequest

/**
 * The body of a message's submit; `client.message` makes it.
 *
 * @example
 * ```ts
 * const request: MessageSubmitRequest = { kind: 'message', branches: [{ action: 'http://mail/welcome' }] }
 * await client.submit(request)
 * ```
 */
export type MessageSubmitRequest = protocol.MessageSubmitRequest

/**
 * The body of a saga's submit; `saga` makes it.
 *
 * @example
 * ```ts
 * const request: SagaSubmitRequest = { deadlineMs: 60_000, branches: [{ action: 'http://bank-a/debit' }] }
 * await client.submit(request)
 * ```
 */
export type SagaSubmitRequest = protocol.SagaSubmitRequest

/**
 * A branch of a TCC as it is registered; `try` of a TCC makes it.
 *
 * @example
 * ```ts
 * const hotel: TccBranchRequest = { id: '01', confirm: 'http://hotel/ok', cancel: 'http://hotel/undo' }
 * ```
 */
export type TccBranchRequest = protocol.TccBranchRequest

/**
 * The body that prepares a TCC; `client.tcc` makes it.
 *
 * @example
 * ```ts
 * const request: TccSubmitRequest = { kind: 'tcc', deadlineMs: 20_000 }
 * ```
 */
export type TccSubmitRequest = protocol.TccSubmitRequest

/**
 * The answer to a signal: `taken` says that it ended a wait, `kept` that the next wait of that name will take it.
 *
 * @example
 * ```ts
 * const { state }: SignalView = await client.signal(gid, approval, { by: 'kim' })
 * ```
 */
export type SignalView = protocol.SignalView
