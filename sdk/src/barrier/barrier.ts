import type { JsonValue } from '@counterstep/protocol'
import type { BarrierDecision } from '@counterstep/protocol/barrier'
import type { BarrierCall } from '../branch/branch.ts'

/**
 * The outcome of a call that the barrier let through or held back. A business failure is none of these: it is thrown,
 * and rolls everything back.
 *
 * - `run`: the effect ran, and committed together with the barrier's row.
 * - `duplicate`: the call had run before; `answer` is the answer of that first run.
 * - `null-compensation`: there is nothing to undo, and the original is blocked for good. An undo gets this answer,
 *   too, if it finds only the rows of an earlier transaction of the same gid; it leaves those rows as they are.
 * - `already-compensated`: the original came after its undo. Answer a failure, with the code `ALREADY_COMPENSATED`.
 *
 * @example
 * ```ts
 * const outcome = await barrier.run(branch, (tx) => debit(tx, branch))
 * if (outcome.decision === 'already-compensated') return new Response(null, { status: 409 })
 * ```
 */
export interface BarrierOutcome {
  readonly decision: BarrierDecision
  /** It is the JSON text that the first caller got, byte for byte. It is absent for an empty answer. */
  readonly answer?: string
}

/**
 * Runs an effect at most once per gid, branch and op, and never after its undo. The effect writes with a `Tx` and
 * returns an `Effect`: for a database that is the answer, a JSON value or nothing.
 *
 * @example
 * ```ts
 * const barrier: Barrier<PoolConnection> = mysqlBarrier(pool)
 * ```
 */
export interface Barrier<Tx, Effect = unknown> {
  /**
   * Inserts the rows, decides, and runs `effect` in the same database transaction if it may run. If `effect` throws,
   * all of this is rolled back and the error is thrown on, so the row commits with the effect or not at all. `effect`
   * may be run again from its start, in a new transaction, when the database chose this one as the victim of a
   * deadlock; so it should do nothing that a rollback does not undo, such as taking a message apart that it reads. (A
   * `branchHandler` gives each run a copy of the payload.)
   *
   * An undo hands its effect the `original`: the first answer of the action (for a cancel: of the try), as it came out
   * of JSON, read from that op's own row in the same database transaction. `original` is undefined where that answer
   * was empty, and for every op that undoes no other. Behind Redis the script has the `original` instead: see
   * `RedisEffect`. If you write a barrier that wraps one of these, let it pass the `original` on.
   *
   * If nothing will undo the action (`call.hasNoUndo`), a `BranchFailure` of the effect is kept before it is thrown on: no copy of the
   * call runs later, and each fails with the same code, and with the same message and details if there is room for them. A barrier that you write yourself has to keep it too,
   * or each refusal of a pivot may be followed by its effect.
   *
   * Throws a `BranchError`, among them `BARRIER_EXPIRED`, `BARRIER_CONTENDED` and `BARRIER_COMMIT_UNKNOWN`, and the
   * driver's own errors. Throws a `BranchFailure` with the code `GID_REUSED` where the transaction that made the call's
   * row was accepted more than a day before the call's own transaction: the row belongs to another transaction of the
   * same gid.
   */
  run(
    call: BarrierCall,
    effect: (tx: Tx, original?: JsonValue) => Effect | Promise<Effect>,
  ): Promise<BarrierOutcome>
  /** Throws a TypeError for a handler that could never work behind this barrier. It is called once, at construction. */
  assertHandler?(handler: (...parameters: never[]) => unknown): void
}

/**
 * These are the options of every barrier.
 *
 * @example
 * ```ts
 * const options: BarrierOptions = { table: 'bank.counterstep_barrier', retentionMs: 90 * 24 * 3_600_000 }
 * ```
 */
export interface BarrierOptions {
  /** The default is `counterstep_barrier`. It may have a schema before it, as in `bank.counterstep_barrier`. */
  readonly table?: string
  /**
   * Says how long rows are kept, in milliseconds. The default is 60 days, and the least value is one day. It must be
   * longer than the time for which the server keeps finished transactions plus the longest deadline. A call that was
   * accepted longer ago than this less one hour is refused with `BARRIER_EXPIRED`, because its row may have been
   * purged. DTM's calls do not say when they were accepted.
   */
  readonly retentionMs?: number
  /** Returns the time in epoch milliseconds. The default is `Date.now`. */
  readonly now?: () => number
}
