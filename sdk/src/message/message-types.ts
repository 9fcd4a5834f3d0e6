import type {
  MessageCheckRequest,
  MessageSubmitRequest,
  SubmitView,
  TransactionView,
} from '@counterstep/protocol'
import type { MessageBarrier } from '../barrier/message-barrier.ts'
import type { FirstAnswer } from '../barrier/with-barrier.ts'
import type { AbortOptions, CallOptions, SubmitOptions } from '../options.ts'

/**
 * A message without a query-back: its branches are called until each has succeeded, one after the other, or all at once
 * with `concurrent`. The first branch is not called before `delayMs` has passed. It is found by its `name` and `tags`.
 *
 * @example
 * ```ts
 * const settings: MessageSettings = { branches: [{ action: 'http://mail/welcome', payload: { user: 'alice' } }] }
 * ```
 */
export interface MessageSettings extends Omit<MessageSubmitRequest, 'kind' | 'check'> {
  readonly check?: undefined
}

/**
 * A message that is delivered if and only if a local transaction commits. `check.url` leads to a
 * `queryPreparedHandler` of the sender. The server asks it (GET) when the message was neither submitted nor aborted
 * for `check.afterMs` (default 35,000), which must be longer than the local transaction takes.
 *
 * @example
 * ```ts
 * const settings: TwoPhaseMessageSettings = {
 *   branches: [{ action: 'http://stock/reserve', payload: { order: 17 } }],
 *   check: { url: 'http://shop/query-prepared', afterMs: 10_000 },
 * }
 * ```
 */
export interface TwoPhaseMessageSettings extends Omit<MessageSubmitRequest, 'kind' | 'ack' | 'check'> {
  readonly check: MessageCheckRequest
}

/**
 * One message. **One value is one message**: its gid is made here, so it is safe to submit it again after an error.
 *
 * @example
 * ```ts
 * const welcome: Message = client.message({ branches: [{ action: 'http://mail/welcome' }] })
 * await welcome.submit()
 * ```
 */
export interface Message {
  readonly gid: string
  /** The request that is sent. */
  readonly request: MessageSubmitRequest & { readonly gid: string }
  /** Resolves when it is durable, or delivered with `waitMs`. */
  submit(options?: SubmitOptions): Promise<TransactionView>
}

/**
 * This is one message and one local transaction. `doAndSubmit` is the whole of it; the other methods are its parts,
 * for a local transaction that runs elsewhere.
 *
 * @example
 * ```ts
 * const order: TwoPhaseMessage = client.message({
 *   branches: [{ action: 'http://stock/reserve', payload: { order: 17 } }],
 *   check: { url: 'http://shop/query-prepared' },
 * })
 * await order.prepare()
 * ```
 */
export interface TwoPhaseMessage extends Message {
  /** Stores the message without delivering it. A second call changes nothing. */
  prepare(options?: CallOptions): Promise<SubmitView>
  /** Delivers the message, also if it was not prepared before. Throws SAGA_NOT_PREPARED if it was dropped. */
  submit(options?: SubmitOptions): Promise<TransactionView>
  /** Drops the message. Throws SAGA_NOT_PREPARED if it was submitted. */
  abort(options?: AbortOptions): Promise<TransactionView>
  /**
   * Prepares the message, runs `effect` in a database transaction of the barrier, and submits: the message is
   * delivered if and only if that transaction commits, whatever breaks in between. Resolves with the value that
   * `effect` returned, as it came out of JSON, and with the transaction as the submit left it.
   *
   * An error of `effect` or of its transaction is thrown on, whatever happens to the message. If the transaction has
   * committed all the same (the answer to the COMMIT was lost), the message is submitted. If it has not committed, the
   * message is aborted. If the outcome cannot be known, the server asks later. An error of the submit is thrown, too,
   * although the message will be delivered if the transaction has committed.
   *
   * A second `effect` for the same gid is refused: `SAGA_NOT_PREPARED`, or `MESSAGE_DUPLICATED` by the barrier. A
   * `waitMs` that is not from 0 to 60,000 is a RangeError before anything is prepared.
   */
  doAndSubmit<Tx, Effect, Answer extends Effect>(
    barrier: MessageBarrier<Tx, Effect>,
    effect: (tx: Tx) => Answer | Promise<Answer>,
    options?: DoAndSubmitOptions,
  ): Promise<SubmittedMessage<FirstAnswer<Effect, Answer> | undefined>>
}

/**
 * These are the options of a `doAndSubmit`. `signal` ends only its calls to the server, not the effect.
 *
 * @example
 * ```ts
 * const options: DoAndSubmitOptions = { waitMs: 5_000, onUnsettled: (error) => console.error(error) }
 * ```
 */
export interface DoAndSubmitOptions extends SubmitOptions {
  /**
   * Is called with the reason why a message whose effect threw could not be submitted or aborted at once. Nothing is
   * lost: the server asks later. It must not throw.
   */
  readonly onUnsettled?: (error: unknown) => void
}

/**
 * This is the outcome of a message and its local transaction.
 *
 * @example
 * ```ts
 * const { answer, transaction }: SubmittedMessage<{ id: number }> = await order.doAndSubmit(barrier, placeOrder)
 * ```
 */
export interface SubmittedMessage<Answer> {
  readonly answer: Answer
  readonly transaction: TransactionView
}
