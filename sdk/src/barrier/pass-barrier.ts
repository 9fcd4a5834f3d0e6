import { type BarrierRow, barrierRows } from '@counterstep/barrier'
import type { Op } from '@counterstep/protocol'
import type { BarrierKey } from '../branch/barrier-key.ts'
import type { BarrierOutcome } from './barrier.ts'
import { decideCall, heldBack, type InsertedOps, outcomeOf, type StandingRow } from './decide-call.ts'
import { answerText } from './stored-answer.ts'

/** The rows of one database, inside one transaction that somebody else begins and ends. */
export interface BarrierTable {
  /**
   * In the given order, each ignored where it stands already. Waits for another transaction's uncommitted row. Throws
   * `nothingToUndo` for an undo whose own row is new, and whose origin's was committed without its effect: it can tell
   * without asking the database once more.
   */
  insert(key: BarrierKey, rows: readonly BarrierRow[], at: number): Promise<InsertedOps>
  /** The newest committed rows, not those of an older snapshot. */
  standing(key: BarrierKey): Promise<readonly StandingRow[]>
  /** Throws BARRIER_TRANSACTION_LOST if the row that was inserted is no longer there, or no longer in a transaction. */
  keepAnswer(key: BarrierKey, op: Op, answer: string): Promise<void>
}

/** One call of one branch. Everything that it throws has to roll the transaction back. */
export async function passBarrier(
  table: BarrierTable,
  { key, op, at }: { readonly key: BarrierKey; readonly op: Op; readonly at: number },
  effect: () => unknown,
): Promise<BarrierOutcome> {
  const inserted = await table.insert(key, barrierRows(op), at)
  const standing = inserted.has(op) ? [] : await table.standing(key)
  const decision = decideCall(op, inserted, standing)
  const held = heldBack(op, decision, standing)
  if (held !== undefined) return held
  const answer = answerText(await effect())
  // Also for an empty answer. A deadlock that the effect swallowed has rolled everything back, and what the effect did
  // after it would commit without a row: this is where that is noticed.
  await table.keepAnswer(key, op, answer)
  return outcomeOf(decision, answer)
}
