import type { SubmitView, TccBranchRequest, TccSubmitRequest, TransactionView } from '@counterstep/protocol'
import type { AbortOptions, CallOptions, SubmitOptions } from '../options.ts'

/**
 * The settings of a whole TCC: `deadlineMs` from prepare (default 35,000: when it has passed before the submit, every
 * branch is cancelled), `timeoutMs` and `retry` of its calls, `headers` for every call, `name` and `tags` to find it by.
 *
 * @example
 * ```ts
 * const settings: TccSettings = { gid: `trip-${tripId}`, deadlineMs: 20_000 }
 * ```
 */
export type TccSettings = Omit<TccSubmitRequest, 'kind' | 'ack'>

/**
 * A participant of a TCC: its `try` sets something aside, and `confirm` makes it final or `cancel` gives it back. All
 * three are called with POST and the same body, a JSON `payload` or a text `body`; `timeoutMs` bounds one call.
 *
 * @example
 * ```ts
 * const hotel: TccBranch<{ room: number }> = {
 *   try: 'http://hotel/reserve',
 *   confirm: 'http://hotel/reserve',
 *   cancel: 'http://hotel/reserve',
 *   payload: { nights: 2 },
 *   parse: (answer) => roomSchema.parse(answer),
 * }
 * ```
 */
export interface TccBranch<Answer = unknown> extends Omit<TccBranchRequest, 'id'> {
  /** The default is "01", "02", … in the order of the calls; of a nested one "0201", "0202", … */
  readonly id?: string
  readonly try: string
  /**
   * Checks the answer and returns it with its type. If it throws, the try fails. Without `parse` the caller only states
   * the type.
   */
  readonly parse?: (answer: unknown) => Answer
}

/**
 * A branch that the server knows, and will confirm or cancel.
 *
 * @example
 * ```ts
 * const { branchId }: RegisteredBranch = await tcc.register({ confirm: 'http://a/confirm', cancel: 'http://a/cancel' })
 * ```
 */
export interface RegisteredBranch {
  readonly gid: string
  readonly branchId: string
  /** Says when the transaction was accepted, as epoch milliseconds: the header `counterstep-accepted-at` of its calls. */
  readonly acceptedAt: number
}

/**
 * Stands for a whole TCC, or for the share of it that one participant has. Its branches are tried through it.
 *
 * @example
 * ```ts
 * async function book(tcc: TccScope) {
 *   return tcc.try<{ room: number }>({ try: 'http://hotel/reserve', confirm: 'http://hotel/ok', cancel: 'http://hotel/undo' })
 * }
 * ```
 */
export interface TccScope {
  readonly gid: string
  /**
   * Registers the branch, so that it is cancelled if the TCC is not submitted, and then calls its `try` once. Resolves
   * with the answer. Throws a `BranchFailure` for 409 (with the answer's code and details), a `BranchOngoing` for 425,
   * and an UnavailableError for everything else: let it pass, so that the TCC is aborted.
   */
  try<Answer = unknown>(branch: TccBranch<Answer>, options?: CallOptions): Promise<Answer>
  /**
   * Only registers the branch, for a try that you call yourself, by gRPC or a queue. `try` and `parse` are ignored if
   * they are given.
   */
  register(branch: Omit<TccBranch, 'try'>, options?: CallOptions): Promise<RegisteredBranch>
}

/**
 * One TCC, step by step; `runTcc` takes these steps for you. **One value is one transaction**.
 *
 * @example
 * ```ts
 * const tcc: Tcc = client.tcc({ deadlineMs: 20_000 })
 * await tcc.prepare()
 * await tcc.try({ try: 'http://hotel/reserve', confirm: 'http://hotel/ok', cancel: 'http://hotel/undo' })
 * await tcc.submit({ waitMs: 5_000 })
 * ```
 */
export interface Tcc extends TccScope {
  /** The request that is sent. */
  readonly request: TccSubmitRequest & { readonly gid: string }
  /** Stores the TCC. A second call changes nothing. */
  prepare(options?: CallOptions): Promise<SubmitView>
  /**
   * Confirms every branch. Waits for the tries that are under way. If a try has failed, it throws the first error of a
   * try instead of submitting, even if your code has caught that error: a branch whose try did not succeed must not be
   * confirmed. Throws SAGA_NOT_PREPARED when the deadline came first.
   */
  submit(options?: SubmitOptions): Promise<TransactionView>
  /** Cancels every branch that was registered. Throws SAGA_NOT_PREPARED if it was submitted. */
  abort(options?: AbortOptions): Promise<TransactionView>
}
