import type { JsonValue, Kind, Op } from '@counterstep/protocol'

/**
 * A call as a barrier needs to know it: its key, and how old it is. A {@link Branch} is one; write it by hand for a
 * call that did not come over HTTP.
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
  /** The default is `01`. Each further barrier that one branch call passes needs another one. It has 1 to 32 bytes. */
  readonly barrierId?: string
  /**
   * Says when the orchestrator accepted the transaction, as epoch milliseconds: the same for all its calls. Without
   * it nothing tells an expired call, or the rows of an earlier transaction of the same gid.
   */
  readonly acceptedAt?: number
  /** This is the payload as it came. Only the Redis barrier's `hashTag` looks at it. */
  readonly payload?: unknown
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
  /** Counted from 1 within the op; 0 if the call does not say, as DTM's do not. */
  readonly attempt: number
  /** Grows with each owner of the transaction; 0 if the call does not say. */
  readonly epoch: number
  readonly payload: Payload
  /**
   * The answer to undo: in a compensation the first answer of the action, and in a cancel that of the try. The barrier reads
   * it from that op's row in the database transaction of the handler, which runs only if the row stands. So it is known
   * even where the orchestrator never got the answer. `Original` is what you say it is, and is not checked.
   *
   * It is undefined in every other op, where that answer was empty, and in a handler behind the Redis barrier, whose
   * script has it instead.
   */
  readonly original?: Original
  /** The request's, in lower case. */
  readonly headers: Readonly<Record<string, string>>
}
