import type { JsonValue, Op } from '@counterstep/protocol'
import {
  type BarrierRow,
  barrierRows,
  computeRowInstants,
  type RowInstants,
} from '@counterstep/protocol/barrier'
import { type BarrierKey, toBarrierKey } from '../branch/barrier-key.ts'
import type { BarrierCall } from '../branch/branch.ts'
import type { BarrierOutcome } from './barrier.ts'
import {
  decideCall,
  findOriginal,
  type InsertedOps,
  mustRemoveOwn,
  needsStanding,
  type StandingRow,
  settleWithoutEffect,
  toOutcome,
} from './decide-call.ts'
import { toAnswerText } from './stored-answer.ts'

/** The undo of an action whose refusal is kept. Where there is nothing to undo, the text becomes the answer of the undo's row. */
export interface UndoOfRefusal extends BarrierCall {
  readonly refusal?: string
}

export interface PassingCall extends RowInstants {
  readonly key: BarrierKey
  readonly op: Op
  /** The text of an {@link UndoOfRefusal}. */
  readonly refusal?: string | undefined
  readonly mustUndo: boolean
}

/** The findings of an insert. */
export interface InsertedRows {
  /** The ops whose rows are new. */
  readonly ops: InsertedOps
  /**
   * The standing row of the op that is undone. For an undo whose own row is new, a driver reads it together with the
   * insert if it can: this row decides the call, and the effect gets its answer.
   */
  readonly origin?: StandingRow | undefined
}

/** The barrier's rows of one database, inside a transaction that the caller begins and ends. */
export interface BarrierTable {
  /**
   * Inserts the rows, which come from `barrierRows`, and ignores those that stand already. It waits for another
   * database transaction's uncommitted row.
   */
  insert(key: BarrierKey, rows: readonly BarrierRow[], at: number): Promise<InsertedRows>
  /** Returns the newest committed rows, not those of an older snapshot. */
  readStanding(key: BarrierKey): Promise<readonly StandingRow[]>
  /**
   * Stores the answer. Throws BARRIER_TRANSACTION_LOST if the inserted row is no longer there, or if no transaction is
   * open any more. (PostgreSQL says the latter only when it is asked to commit.)
   */
  keepAnswer(key: BarrierKey, op: Op, answer: string): Promise<void>
  /** Deletes a row that the call has inserted. Throws BARRIER_TRANSACTION_LOST if it is no longer there. */
  remove(key: BarrierKey, op: Op): Promise<void>
  /**
   * Makes the COMMIT that follows wait until the rows that were read are durable. It is called before an answer that rests
   * on them alone, and it is absent where a COMMIT makes its rows durable before others see them.
   */
  flushStanding?(): Promise<void>
}

/** Checks a call before anything is inserted. Throws BRANCH_CALL_INVALID. */
export function toPassingCall(call: UndoOfRefusal, now: number): PassingCall {
  const { op, acceptedAt, refusal, mustUndo = false } = call
  const instants = computeRowInstants(acceptedAt, now)
  return { key: toBarrierKey(call), op, refusal, mustUndo, ...instants }
}

/**
 * Passes one call of one branch. Any error that it throws has to roll the transaction back. The effect is handed the
 * first answer of the op that it undoes.
 */
export async function passBarrier(
  table: BarrierTable,
  call: PassingCall,
  effect: (original: JsonValue | undefined) => unknown,
): Promise<BarrierOutcome> {
  const { key, op, at, since, refusal, mustUndo } = call
  const { ops, origin } = await table.insert(key, barrierRows(op), at)
  const standing = origin === undefined ? await readStanding(table, call, ops) : [origin]
  const decision = decideCall(op, ops, standing, since)
  if (mustRemoveOwn(op, decision, ops)) await table.remove(key, op)
  const settled = settleWithoutEffect(op, decision, standing, mustUndo)
  if (settled !== undefined) {
    if (decision === 'null-compensation' && refusal !== undefined) await table.keepAnswer(key, op, refusal)
    if (ops.size === 0) await table.flushStanding?.()
    return settled
  }
  const answer = toAnswerText(await effect(findOriginal(op, standing)))
  // The answer is stored even if it is empty. If the effect has swallowed a deadlock, everything was rolled back, and
  // later writes of the effect would commit without a row. This statement notices that.
  await table.keepAnswer(key, op, answer)
  return toOutcome('run', answer)
}

async function readStanding(
  table: BarrierTable,
  { key, op }: PassingCall,
  inserted: InsertedOps,
): Promise<readonly StandingRow[]> {
  return needsStanding(op, inserted) ? table.readStanding(key) : []
}
