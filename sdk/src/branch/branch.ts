import type { JsonValue, Kind, Op } from '@counterstep/protocol'

/**
 * The facts that a barrier needs of a call: its key, and how old it is. A {@link Branch} is such a call. For a call that
 * did not come over HTTP, write the object by hand.
 *
 * @example
 * ```ts
 * const call: BarrierCall = { gid: message.gid, branchId: '01', op: 'action' }
 * ```
 */
export interface BarrierCall {
  /** It has 1 to 128 bytes of UTF-8 and no control characters. */
  readonly gid: string
  /** It has 1 to 128 bytes of UTF-8 and no control characters. */
  readonly branchId: string
  readonly op: Op
  /**
   * The default is `01`. Each further barrier that one branch call passes needs another one, but not an alternative that is
   * tried when another effect has refused: a repeated call would find no row of what has refused, try it again, and both
   * would have taken effect. Run both in one effect. It has 1 to 32 bytes.
   */
  readonly barrierId?: string
  /**
   * Says when the orchestrator accepted the transaction, as epoch milliseconds: the same for all its calls. Without
   * this instant the barrier recognizes neither an expired call nor the rows of an earlier transaction of the same gid.
   */
  readonly acceptedAt?: number
  /**
   * Nothing will undo this action, so that no compensation holds back a copy of the call which comes after a refusal. A barrier
   * that begins transactions of its own then keeps the refusal: each later copy fails with the same code. So a
   * refusal has to be the answer: another try of the same call never runs. Leave it out at each barrier whose
   * refusal you catch.
   */
  readonly hasNoUndo?: true
  /**
   * This call undoes an action that was answered with success. Where the barrier finds no row of that action, the row was
   * lost or stands in another table: it fails with `BARRIER_ORIGINAL_MISSING`, and does not succeed without having undone
   * anything. The handlers of this package say it of calls with the header `counterstep-undo: due`. `parseBranch` does not,
   * since an effect that passes a barrier by itself may have passed none for the action.
   */
  readonly mustUndo?: true
  /** This is the payload as it came. Only the Redis barrier's `hashTag` looks at it. */
  readonly payload?: unknown
  /**
   * When it aborts, the answer does not count any more. A barrier that begins transactions of its own then rolls back and
   * fails with `BARRIER_TIMED_OUT`. An orchestrator in the same process gives it with its calls; a call over HTTP has none.
   */
  readonly signal?: AbortSignal
}

/**
 * Describes one call of an orchestrator, ours or DTM's, to a branch of a transaction.
 *
 * @example
 * ```ts
 * async function debit(tx: PoolConnection, branch: Branch<{ account: string; cents: number }>) {
 *   const { account, cents } = branch.payload
 *   await tx.execute('UPDATE account SET cents = cents - ? WHERE id = ?', [cents, account])
 * }
 * ```
 *
 * @example
 * ```ts
 * async function release(tx: PoolConnection, { original }: Branch<unknown, { holdId: string }>) {
 *   if (original !== undefined) await tx.execute('DELETE FROM hold WHERE id = ?', [original.holdId])
 * }
 * ```
 */
export interface Branch<Payload = unknown, Original = JsonValue> extends BarrierCall {
  /** The kind of the transaction: `saga`, `tcc` or `message` (`msg` on DTM's wire). */
  readonly kind: Kind
  readonly barrierId: string
  /** The number of the attempt of this op, from 1 on. It is 0 if the call does not say it, as DTM's calls do not. */
  readonly attempt: number
  /** This number grows with each owner of the transaction. It is 0 if the call does not say it. */
  readonly epoch: number
  readonly payload: Payload
  /**
   * The answer to undo: in a compensation the first answer of the action, and in a cancel that of the try. The barrier
   * reads it from that op's row in the database transaction of the handler, which runs only if the row stands. So the
   * answer is known here even if the orchestrator never got it. `Original` is the type that you state, and is not
   * checked.
   *
   * `original` is undefined in every other op, where that answer was empty, and in a handler behind the Redis barrier,
   * whose script has it instead.
   */
  readonly original?: Original
  /** The headers of the request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}
