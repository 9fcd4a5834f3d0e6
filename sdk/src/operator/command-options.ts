import type { EditRequest, Op, PayloadValue } from '@counterstep/protocol'
import type { CallOptions } from '../options.ts'

/**
 * Names one call of a transaction: an op of one of its branches.
 *
 * @example
 * ```ts
 * const undo: OpName = { branchId: 'debit', op: 'compensate' }
 * ```
 */
export interface OpName {
  readonly branchId: string
  readonly op: Op
}

/**
 * The options of each command.
 *
 * @example
 * ```ts
 * await operator.retry('order-4711', { reason: 'bank-a is restarted' })
 * ```
 */
export interface CommandOptions extends CallOptions {
  /** It is kept in the transaction's trail. It has at most 1,024 characters. */
  readonly reason?: string
  /** The plan of a preview. If the command would do something else by now, it is refused with `SAGA_PLAN_CHANGED`. */
  readonly planId?: string
  /**
   * 1 to 64 characters of `A-Z a-z 0-9 . _ : -`. The same id again is the same command. The default is a random UUID,
   * the same for all attempts of the call.
   */
  readonly commandId?: string
}

/**
 * The options of a command that needs a reason.
 *
 * @example
 * ```ts
 * await operator.stop('order-4711', { reason: 'the books were corrected by hand, ticket 812' })
 * ```
 */
export interface ReasonedOptions extends CommandOptions {
  readonly reason: string
}

/**
 * The options of a pause.
 *
 * @example
 * ```ts
 * await operator.pause('order-4711', { reason: 'bank-a is being moved', until: Date.now() + 3_600_000 })
 * ```
 */
export interface PauseOptions extends CommandOptions {
  /** The pause ends at this instant, in milliseconds from the epoch. By default it ends by a resume. */
  readonly until?: number
}

/**
 * The options of an abort by an operator.
 *
 * @example
 * ```ts
 * await operator.abort('order-4720', { reason: 'the customer has cancelled', waitMs: 5_000 })
 * ```
 */
export interface AbortCommandOptions extends CommandOptions {
  /** The server answers when the transaction is final, or after this time. It is 0 to 60,000. */
  readonly waitMs?: number
}

/**
 * The options of a skip, which declares a call done.
 *
 * @example
 * ```ts
 * const options: SkipOptions = { doneBy: 'hand', reason: 'paid back by wire', confirm: 'no-call-took-effect' }
 * ```
 */
export interface SkipOptions extends ReasonedOptions {
  /**
   * `service`: the service has done it, so its compensation is called if the transaction turns around. `hand`: a person
   * has done it elsewhere, so a person must undo it there.
   */
  readonly doneBy: 'service' | 'hand'
  /** The answer of a skipped action, for the values that other branches take from it. */
  readonly answer?: PayloadValue
  /** It is needed where a call may have taken effect: see `needs` of the plan. */
  readonly confirm?: 'no-call-took-effect'
}

/**
 * The options of an edit. What is absent stays as it was.
 *
 * @example
 * ```ts
 * const options: EditOptions = { url: 'bank-a:/v2/debit', reason: 'the path has moved', confirm: 'no-call-took-effect' }
 * ```
 */
export interface EditOptions extends ReasonedOptions, Omit<EditRequest, 'commandId' | 'planId' | 'reason'> {}
