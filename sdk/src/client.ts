import type {
  PayloadValue,
  SignalView,
  SubmitRequest,
  SubmitView,
  TransactionPage,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
import type { Branch } from './branch/branch.ts'
import type { ClientOptions } from './client-options.ts'
import { command } from './command.ts'
import { createSetup } from './create-setup.ts'
import { listAll, listPage } from './list.ts'
import { message } from './message/message.ts'
import type {
  Message,
  MessageSettings,
  TwoPhaseMessage,
  TwoPhaseMessageSettings,
} from './message/message-types.ts'
import type {
  AbortOptions,
  CallOptions,
  ListFilter,
  SignalOptions,
  StopOptions,
  SubmitOptions,
  WaitOptions,
  WorkflowWaitOptions,
} from './options.ts'
import type { Saga, SureSaga } from './saga.ts'
import { sendSignal } from './send-signal.ts'
import type { Signal } from './signal.ts'
import { submit } from './submit.ts'
import { submitPrepared } from './submit-prepared.ts'
import { openNestedTcc } from './tcc/nested-tcc.ts'
import { type RunTccOptions, runTcc, type SubmittedTcc } from './tcc/run-tcc.ts'
import { tcc } from './tcc/tcc.ts'
import type { Tcc, TccScope, TccSettings } from './tcc/tcc-types.ts'
import { fetchTransaction } from './transaction.ts'
import { waitUntilFinal } from './wait.ts'
import { type EndedWorkflow, type StartSettings, type StartView, start } from './workflow/start.ts'
import type { Workflow } from './workflow/workflow.ts'

/**
 * Stands for a server. Every call throws RefusedError for a definite no, UnavailableError when the outcome
 * stayed open for `retryForMs`, and the signal's reason when it was aborted.
 *
 * @example
 * ```ts
 * const client: Client = createClient({ url: 'http://127.0.0.1:8470' })
 * ```
 */
export interface Client {
  /**
   * Stores a transaction and starts it. Resolves when it is durable, or final with `waitMs`. While the outcome is open,
   * the submit is sent again with the same gid, so it cannot run twice. Throws SAGA_GID_CONFLICT when the gid has other
   * content. A refusal says that no attempt has stored it; if an earlier one may have, SAGA_OUTCOME_UNKNOWN is thrown, with the refusal as its cause.
   */
  submit(transaction: Saga | SureSaga | SubmitRequest, options?: SubmitOptions): Promise<SubmitView>
  /**
   * Starts a workflow, whose function a `workflowHandler` serves at the URL `handler`. Resolves as a submit does: when it is
   * durable, or final with `waitMs`, then with what the function returned as `result`. While the outcome is open it is sent
   * again with the same gid, so it cannot run twice. Throws SAGA_KIND_UNSUPPORTED if the server does not accept workflows.
   */
  start<Input, Result>(
    workflow: Workflow<Input, Result>,
    settings: StartSettings<Input>,
    options?: SubmitOptions,
  ): Promise<StartView<Result>>
  /**
   * Makes a message. If it has a query-back (`check`), `doAndSubmit` runs a local transaction, and the message is
   * delivered if and only if that transaction commits. Without a `check` it is a plain reliable message: `submit` it.
   * Nothing is sent yet.
   */
  message(settings: TwoPhaseMessageSettings): TwoPhaseMessage
  message(settings: MessageSettings): Message
  /**
   * Runs a TCC: prepares it, lets `callback` try branches, and confirms all of them when it returns. When the callback
   * throws, or a try has failed, all branches are cancelled, and the error is thrown on; with `waitMs` it is thrown
   * when they are cancelled, or when that time is over. Throws SAGA_NOT_PREPARED when the deadline came before the
   * submit, or a try of a participant has failed (see `tccOf`); after an UnavailableError of the submit it is open
   * whether the branches will be confirmed or cancelled: see `get`.
   */
  runTcc<Answer>(
    settings: TccSettings,
    callback: (tcc: TccScope) => Answer | Promise<Answer>,
    options?: RunTccOptions,
  ): Promise<SubmittedTcc<Answer>>
  /** Returns a TCC that you take step by step. Nothing is sent yet. */
  tcc(settings?: TccSettings): Tcc
  /**
   * Returns the share of a TCC that the participant of this branch has. The participant tries branches of its own
   * from within its try, under ids behind its own (`0201`). The process that began the TCC submits or aborts it, and
   * these branches with it. A `try` that fails aborts the whole TCC before its error is thrown, also if you catch that,
   * because a branch whose try did not succeed must not be confirmed; so await each try before you answer. Call `tccOf`
   * once for each call that you are given: a second scope of one `branch` must not number its branches, which is a
   * TypeError.
   */
  tccOf(branch: Pick<Branch, 'gid' | 'branchId' | 'kind'>): TccScope
  /**
   * Submits a prepared transaction by its gid alone. A second submit changes nothing. Throws SAGA_NOT_PREPARED,
   * SAGA_WRONG_KIND.
   */
  submitPrepared(gid: string, options?: SubmitOptions): Promise<TransactionView>
  /** Resolves when the workflow is final, with what its function returned as `result` if it has succeeded. Throws as below. */
  wait<Result>(gid: string, options: WorkflowWaitOptions<Result>): Promise<EndedWorkflow<Result>>
  /** Resolves when the transaction is final. Throws NotFinalError with what was seen last, and SAGA_UNKNOWN_GID. */
  wait(gid: string, options?: WaitOptions): Promise<TransactionView>
  /** Reads a transaction. Throws SAGA_UNKNOWN_GID. */
  get(gid: string, options?: CallOptions): Promise<TransactionView>
  /** Lists all transactions that match, newest first unless `order` says otherwise, fetched page by page. */
  list(filter?: ListFilter, options?: CallOptions): AsyncIterable<TransactionSummary>
  /** Lists one page; its `cursor` leads to the next. */
  page(filter?: ListFilter, options?: CallOptions): Promise<TransactionPage>
  /**
   * Undoes a transaction: actions that may have run are compensated, prepared branches are cancelled, and a prepared
   * message is dropped. Resolves when that is decided for good. Throws SAGA_ALREADY_FINAL, and SAGA_NOT_PREPARED for
   * a TCC or a message that is submitted.
   */
  abort(gid: string, options?: AbortOptions): Promise<TransactionView>
  /**
   * Sends a signal to a saga that waits for it, or will. `taken` says that it ended a wait, `kept` that the next wait of
   * that name will take it. It is sent again with the same id while the outcome is open, and counts once. Throws
   * SAGA_SIGNAL_UNKNOWN when no wait has that name, SAGA_SIGNAL_CONFLICT when the id has other content,
   * SAGA_TURNED_AROUND and SAGA_ALREADY_FINAL when it comes too late.
   */
  signal(gid: string, signal: Signal<void>, payload?: undefined, options?: SignalOptions): Promise<SignalView>
  signal<Payload>(
    gid: string,
    signal: Signal<Payload>,
    payload: Payload,
    options?: SignalOptions,
  ): Promise<SignalView>
  signal(gid: string, name: string, payload?: PayloadValue, options?: SignalOptions): Promise<SignalView>
  /** Calls at once the branches that wait for their next call. Throws SAGA_ALREADY_FINAL. */
  retry(gid: string, options?: CallOptions): Promise<TransactionView>
  /** Ends a transaction as it is, and undoes nothing. It is for operators. Throws SAGA_ALREADY_FINAL. */
  stop(gid: string, options: StopOptions): Promise<TransactionView>
}

/**
 * Makes a client of one server, or of several that share a store. Throws a TypeError for a URL that is not http(s),
 * or has a login in it, for no URL at all, for an API key that no header can carry, and for an `answerBytesMax` out
 * of its range.
 *
 * @example
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:8470' })
 * const transfer = saga()
 *   .branch('debit', { action: 'http://bank-a/debit', compensation: 'http://bank-a/debit/undo' })
 *   .branch('credit', { action: 'http://bank-b/credit', compensation: 'http://bank-b/credit/undo' })
 * const { status } = await client.submit(transfer, { waitMs: 10_000 })
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const setup = createSetup(options)
  return {
    submit: (transaction, options = {}) => submit(setup, transaction, options),
    start: (workflow, settings, options = {}) => start(setup, workflow, settings, options),
    // The overloads are those of `message`, and below of `wait`.
    message: ((settings: TwoPhaseMessageSettings) => message(setup, settings)) as Client['message'],
    runTcc: (settings, callback, options = {}) => runTcc(setup, settings, callback, options),
    tcc: (settings = {}) => tcc(setup, settings),
    tccOf: (branch) => openNestedTcc(setup, branch),
    submitPrepared: (gid, options = {}) => submitPrepared(setup, gid, options),
    wait: ((gid: string, options: WaitOptions = {}) => waitUntilFinal(setup, gid, options)) as Client['wait'],
    get: (gid, options = {}) => fetchTransaction(setup, gid, options),
    list: (filter = {}, options = {}) => listAll(setup, filter, options),
    page: (filter = {}, options = {}) => listPage(setup, filter, options),
    abort: (gid, options = {}) => command(setup, 'abort', gid, options),
    signal: (gid: string, signal: Signal<unknown> | string, payload?: unknown, options: SignalOptions = {}) =>
      sendSignal(setup, gid, typeof signal === 'string' ? signal : signal.name, payload, options),
    retry: (gid, options = {}) => command(setup, 'retry', gid, options),
    stop: (gid, options) => command(setup, 'stop', gid, options),
  }
}
