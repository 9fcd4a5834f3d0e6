import type { JsonValue, Op } from '@counterstep/protocol'
import type { Barrier, BarrierOutcome } from '../barrier/barrier.ts'
import type { UndoOfRefusal } from '../barrier/pass-barrier.ts'
import type { BarrierKey } from '../branch/barrier-key.ts'
import type { BarrierCall } from '../branch/branch.ts'

/**
 * A barrier that can pass several calls in one database transaction. Make one with `mysqlGroupBarrier`,
 * `postgresGroupBarrier` or `sqliteGroupBarrier`, and give it to `groupedBranch`.
 *
 * @example
 * ```ts
 * const barrier: GroupBarrier<PoolConnection> = mysqlGroupBarrier(pool)
 * const transfers = groupedBranch(barrier, { key: () => 'transfer', apply })
 * ```
 */
export interface GroupBarrier<Tx> extends Barrier<Tx> {
  /** Runs the groups of a `groupedBranch`. */
  readonly groupRunner: GroupRunner<Tx>
}

/** Runs groups of calls on one database. */
export interface GroupRunner<Tx> {
  /** Says how long a call may take, in milliseconds. The wait until its group begins may take as long again. */
  readonly timeoutMs?: number
  /** Checks a call before it waits for others. Throws what `run` would throw before it does anything. */
  admit(call: UndoOfRefusal): AdmittedCall
  /**
   * Runs all calls in one database transaction, and runs it again as a whole while it is the victim of a deadlock.
   * Resolves after its COMMIT. Throws `GroupRolledBack` if a call keeps the others from committing, or needs a row that
   * another transaction has locked. Every other error comes from the database, and then the outcome of every call is
   * unknown.
   */
  run(passes: readonly GroupPass[], apply: GroupApply<Tx, unknown>): Promise<readonly GroupVerdict[]>
}

/** A call whose parts have been checked. */
export interface AdmittedCall {
  readonly call: UndoOfRefusal
  /** Names the branch within the barrier's table: its key as one text. */
  readonly branch: string
  readonly key: BarrierKey
  readonly op: Op
  /** The instant that its rows are given, in epoch milliseconds. */
  readonly at: number
  /** Rows with an instant before this, in epoch milliseconds, belong to another transaction of the same gid. */
  readonly since: number
}

export interface GroupPass {
  readonly admitted: AdmittedCall
  /**
   * Asks the user's handler for the value that `apply` gets for this call. The handler is called once in each
   * transaction in which the call may have to run. For an undo it gets the first answer of the op that is undone.
   */
  readonly entry: (original: JsonValue | undefined) => unknown
}

export type GroupVerdict = { readonly outcome: BarrierOutcome } | { readonly error: unknown }

/**
 * One call of a group that is to run: the call, and what its handler returned.
 *
 * @example
 * ```ts
 * const cents = calls.map(({ entry }: GroupCall<{ cents: number }>) => entry.cents)
 * ```
 */
export interface GroupCall<Entry> {
  readonly call: BarrierCall
  readonly entry: Entry
}

/**
 * Applies the effects of a group of calls in one database transaction, through `tx` alone. Use as few statements as
 * you can for all of them. Returns one result for each call, in their order:
 *
 * - a JSON value or undefined: the call succeeded, with this answer;
 * - an Error (returned, not thrown): the call did not succeed, and **nothing of it has been written**. A
 *   `BranchFailure` is a business failure, a `BranchOngoing` says not yet, and after every other error the call is
 *   tried again. The other calls are committed;
 * - `takeOut(error)`: the call did not succeed, and something of it has been written. Everything is rolled back, the
 *   other calls run again without this one, and this one runs once more by itself.
 *
 * If the function throws, everything is rolled back and the group is halved until the call for which it throws is
 * alone. So the function may be called several times for one call, always in a new transaction; it should do nothing
 * that a rollback does not undo. The calls stand in the order in which they came, and are of different branches. Behind
 * the SQLite barrier the function must be synchronous.
 *
 * @example
 * ```ts
 * const apply: GroupApply<PoolConnection, { seat: string }> = async (tx, calls) => {
 *   const rows = calls.map(({ call, entry }) => [entry.seat, call.gid])
 *   await tx.query('INSERT INTO booking (seat, gid) VALUES ?', [rows])
 *   return calls.map(({ entry }) => ({ seat: entry.seat }))
 * }
 * ```
 */
export type GroupApply<Tx, Entry> = (
  tx: Tx,
  calls: readonly GroupCall<Entry>[],
) => readonly unknown[] | Promise<readonly unknown[]>
