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

/** The rows of one database, inside one transaction that somebody else begins and ends. */
export interface BarrierTable {
  /**
   * In the given order, each ignored where it stands already. Waits for another database transaction's uncommitted row.
   * An undo's own row is not kept where its origin's has an instant before `since`, and is then not among the ops. Throws
   * `toNothingToUndoError` for an undo whose own row is new, and whose origin's was committed without its effect. Both it can
   * tell without asking the database once more.
   */
  insert(key: BarrierKey, rows: readonly BarrierRow[], instants: RowInstants): Promise<InsertedOps>
  /** The newest committed rows, not those of an older snapshot. */
  standing(key: BarrierKey): Promise<readonly StandingRow[]>
  /** Throws BARRIER_TRANSACTION_LOST if the row that was inserted is no longer there, or no longer in a transaction. */
  keepAnswer(key: BarrierKey, op: Op, answer: string): Promise<void>
}

/** Throws BRANCH_CALL_INVALID, before anything is inserted. */
export function toPassingCall(call: BarrierCall, now: number): PassingCall {
  return { key: barrierKey(call), op: call.op, ...rowInstants(call.acceptedAt, now) }
}

/** One call of one branch. Everything that it throws has to roll the transaction back. */
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
  // Also for an empty answer. A deadlock that the effect swallowed has rolled everything back, and what the effect did
  // after it would commit without a row: this is where that is noticed.
  await table.keepAnswer(key, op, answer)
  return toOutcome('run', answer)
}
