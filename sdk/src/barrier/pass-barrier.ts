import type { Op } from '@counterstep/protocol'
import { type BarrierRow, barrierRows, type RowInstants, rowInstants } from '@counterstep/protocol/barrier'
import { type BarrierKey, barrierKey } from '../branch/barrier-key.ts'
import type { BarrierCall } from '../branch/branch.ts'
import type { BarrierOutcome } from './barrier.ts'
import {
  decideCall,
  type InsertedOps,
  type StandingRow,
  settleWithoutEffect,
  toOutcome,
} from './decide-call.ts'
import { toAnswerText } from './stored-answer.ts'

export interface PassingCall extends RowInstants {
  readonly key: BarrierKey
  readonly op: Op
}

/** The barrier's rows of one database, inside a transaction that the caller begins and ends. */
export interface BarrierTable {
  /**
   * Inserts the rows in the given order and ignores those that stand already. It waits for another database
   * transaction's uncommitted row. The own row of an undo is not kept if its origin's row has an instant before
   * `since`, and is then not among the returned ops. Throws `toNothingToUndoError` for an undo whose own row is new,
   * and whose origin's row was committed without its effect. A driver can tell both without asking the database once
   * more.
   */
  insert(key: BarrierKey, rows: readonly BarrierRow[], instants: RowInstants): Promise<InsertedOps>
  /** Returns the newest committed rows, not those of an older snapshot. */
  standing(key: BarrierKey): Promise<readonly StandingRow[]>
  /**
   * Stores the answer. Throws BARRIER_TRANSACTION_LOST if the row that was inserted is no longer there, or no longer
   * in a transaction.
   */
  keepAnswer(key: BarrierKey, op: Op, answer: string): Promise<void>
}

/** Checks a call before anything is inserted. Throws BRANCH_CALL_INVALID. */
export function toPassingCall(call: BarrierCall, now: number): PassingCall {
  return { key: barrierKey(call), op: call.op, ...rowInstants(call.acceptedAt, now) }
}

/** Passes one call of one branch. Any error that it throws has to roll the transaction back. */
export async function passBarrier(
  table: BarrierTable,
  call: PassingCall,
  effect: () => unknown,
): Promise<BarrierOutcome> {
  const { key, op } = call
  const inserted = await table.insert(key, barrierRows(op), call)
  const standing = inserted.has(op) ? [] : await table.standing(key)
  const decision = decideCall(op, inserted, standing, call.since)
  const held = settleWithoutEffect(op, decision, standing)
  if (held !== undefined) return held
  const answer = toAnswerText(await effect())
  // The answer is stored even if it is empty. A deadlock that the effect swallowed has rolled everything back, and
  // later writes of the effect would commit without a row: this statement notices it.
  await table.keepAnswer(key, op, answer)
  return toOutcome('run', answer)
}
