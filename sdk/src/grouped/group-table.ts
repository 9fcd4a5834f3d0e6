import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { StandingRow } from '../barrier/decide-call.ts'
import type { AdmittedCall } from './group-barrier.ts'
import type { Awaitable } from './steps.ts'

/** A row that has to be inserted for a call of a group. */
export interface GroupRow {
  readonly admitted: AdmittedCall
  readonly op: Op
  readonly reason: BarrierReason
}

/** The barrier's rows of one database for several calls, inside a transaction that the caller begins and ends. */
export interface GroupTable {
  /**
   * Inserts the rows that do not stand yet, and returns them. No two of `rows` have one key, and they come in the
   * order in which all transactions insert them. It waits for other transactions' uncommitted rows.
   */
  insert(rows: readonly GroupRow[]): Awaitable<ReadonlySet<GroupRow>>
  /** Returns the newest committed rows of the calls' branches, and the rows of this transaction, by branch. */
  readStanding(calls: readonly AdmittedCall[]): Awaitable<ReadonlyMap<string, readonly StandingRow[]>>
  /** Stores the answers. Throws BARRIER_TRANSACTION_LOST unless each row is there and the transaction is still open. */
  keepAnswers(kept: readonly KeptAnswer[]): Awaitable<void>
  /**
   * Deletes the calls' own rows. Throws BARRIER_TRANSACTION_LOST unless each row is there and the transaction is still
   * open.
   */
  remove(calls: readonly AdmittedCall[]): Awaitable<void>
  /**
   * Makes the COMMIT that follows wait until the rows that were read are durable. It is called for a group that leaves no
   * new row, and it is absent where a COMMIT that has read them waits by itself, or where they were durable before.
   */
  flushStanding?(): Awaitable<void>
  /** It is present if it saves a statement to decide before the rows are written. */
  readonly planned?: PlannedRows
}

/** Inserts the rows of calls that are decided before anything is written. */
export interface PlannedRows {
  /**
   * Returns standing rows of these calls' branches, by branch. It need not find all of them, because `insert` notices
   * the others. Returns undefined if no plan should be made now. Call it before anything is written.
   */
  findStanding(
    calls: readonly AdmittedCall[],
  ): Awaitable<ReadonlyMap<string, readonly StandingRow[]> | undefined>
  /**
   * Inserts the rows in the given order, with an answer where there is one. If one of them stands already, none is
   * inserted, the transaction is begun again, and the standing rows of these branches are returned. Otherwise it
   * returns undefined.
   */
  insert(rows: readonly PlannedRow[]): Awaitable<ReadonlyMap<string, readonly StandingRow[]> | undefined>
  /** Ends the plan after the effects. Throws BARRIER_TRANSACTION_LOST unless the transaction is still open. */
  end(): Awaitable<void>
}

export type PlannedRow = Pick<KeptAnswer, 'admitted'> & Partial<KeptAnswer>

export interface KeptAnswer {
  readonly admitted: AdmittedCall
  readonly answer: string
}

export const ROWS_LOST = 'apply ended the transaction that it ran in, or went on after an error that did'
