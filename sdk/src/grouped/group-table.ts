import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { StandingRow } from '../barrier/decide-call.ts'
import type { AdmittedCall } from './group-barrier.ts'
import type { Awaitable } from './steps.ts'

/** One row that a call of a group wants to be there. */
export interface GroupRow {
  readonly admitted: AdmittedCall
  readonly op: Op
  readonly reason: BarrierReason
}

/** The rows of one database for several calls, inside one transaction that somebody else begins and ends. */
export interface GroupTable {
  /**
   * Inserts those that do not stand yet, and returns them. No two of `rows` have one key, and they come in the order
   * in which all transactions take them. Waits for other transactions' uncommitted rows.
   */
  insert(rows: readonly GroupRow[]): Awaitable<ReadonlySet<GroupRow>>
  /** The newest committed rows of the calls' branches, and those of this transaction, by the branch. */
  standing(calls: readonly AdmittedCall[]): Awaitable<ReadonlyMap<string, readonly StandingRow[]>>
  /** Throws BARRIER_TRANSACTION_LOST unless each row is there, in a transaction. */
  keepAnswers(kept: readonly KeptAnswer[]): Awaitable<void>
  /** Deletes the calls' own rows. Throws BARRIER_TRANSACTION_LOST likewise. */
  remove(calls: readonly AdmittedCall[]): Awaitable<void>
  /** Where a plan spares a statement. */
  readonly planned?: PlannedRows
}

/** The rows of calls that are decided before anything is written. */
export interface PlannedRows {
  /**
   * What may stand of these calls' branches, by the branch; it need not find all, since `insert` does. Undefined where no
   * plan should be made now. Nothing may have been written.
   */
  look(calls: readonly AdmittedCall[]): Awaitable<ReadonlyMap<string, readonly StandingRow[]> | undefined>
  /**
   * In the given order, an answer where there is one. If one stands already, none of them is inserted, the transaction is
   * begun again, and what stands of these branches is returned; otherwise undefined.
   */
  insert(rows: readonly PlannedRow[]): Awaitable<ReadonlyMap<string, readonly StandingRow[]> | undefined>
  /** After the effects. Throws BARRIER_TRANSACTION_LOST unless the transaction is still open. */
  end(): Awaitable<void>
}

export type PlannedRow = Pick<KeptAnswer, 'admitted'> & Partial<KeptAnswer>

export interface KeptAnswer {
  readonly admitted: AdmittedCall
  readonly answer: string
}

export const ROWS_LOST = 'apply ended the transaction that it ran in, or went on after an error that did'
