import { OWN_CALL_ID } from '@counterstep/protocol'
import type { BarrierCall } from '../branch/branch.ts'
import type { Barrier } from './barrier.ts'

/**
 * This is the outcome of the local transaction of a two-phase message. `rolled-back` is final: a local transaction that
 * comes after the query-back is refused.
 *
 * @example
 * ```ts
 * const words: Record<LocalOutcome, string> = { committed: 'will be delivered', 'rolled-back': 'never was' }
 * ```
 */
export type LocalOutcome = 'committed' | 'rolled-back'

/**
 * These are the options of a query-back besides the gid.
 *
 * @example
 * ```ts
 * const options: QueryPreparedOptions = { acceptedAt: view.createdAt }
 * ```
 */
export interface QueryPreparedOptions {
  /**
   * Says when the server accepted the message, as epoch milliseconds. Without this instant the barrier recognizes
   * neither a query-back that comes too late nor an earlier message of the same gid.
   */
  readonly acceptedAt?: number
  /** When it aborts, the outcome is not asked for any more, and the barrier rolls back. */
  readonly signal?: AbortSignal
}

/**
 * A barrier that can tell the outcome of the local transactions of two-phase messages: the barriers of a pool, of
 * SQLite and of Redis can. Give it to `doAndSubmit` and to `queryPreparedHandler`. For a query builder, write such a
 * barrier yourself: its `run` runs in a transaction of its own (`mysqlBarrierIn`, `postgresBarrierIn`), and its
 * `queryPrepared` is that of the pool's barrier.
 *
 * @example
 * ```ts
 * const barrier: MessageBarrier<PoolConnection> = mysqlBarrier(pool)
 * ```
 */
export interface MessageBarrier<Tx, Effect = unknown> extends Barrier<Tx, Effect> {
  /**
   * Tells whether the local transaction of a message has committed. It waits for a local transaction that is under way,
   * and blocks one that has not begun, so its answer never changes. If an earlier message has used the gid, it says
   * `rolled-back`, since the row of the earlier message keeps the new local transaction from committing. While the
   * outcome cannot be known, it rejects with a `BranchError` or the driver's own error; then ask again, and assume
   * neither outcome.
   */
  queryPrepared(gid: string, options?: QueryPreparedOptions): Promise<LocalOutcome>
}

/** DTM's name for what belongs to the message itself. */
const MESSAGE_BARRIER_ID = '01'

/** The local transaction of a message, as a call that a barrier can pass. */
export function buildLocalCall(gid: string, { acceptedAt }: QueryPreparedOptions = {}): BarrierCall {
  return {
    gid,
    branchId: OWN_CALL_ID,
    op: 'msg',
    barrierId: MESSAGE_BARRIER_ID,
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
  }
}
