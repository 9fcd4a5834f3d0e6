import type { Op } from '../words.ts'
import { isOfOtherTransaction } from './row-instants.ts'

/** A late original gets this `code` with its 409. The saga's abort decision may have been lost. */
export const ALREADY_COMPENSATED = 'ALREADY_COMPENSATED'

/**
 * Says why a row is there: it is the op that inserted the row, or `rollback` if a query-back refused a two-phase
 * message.
 */
export type BarrierReason = Op | 'rollback'

/** Describes one row of the barrier, under (gid, branch). The key is (gid, branch, op). */
export interface BarrierRow {
  readonly op: Op
  readonly reason: BarrierReason
  /** This is the instant of `computeRowInstants` in epoch milliseconds. It is absent if it was not kept. */
  readonly createdAt?: number
}

/**
 * Says what the driver has to do. Only `run` touches business data.
 *
 * - `run`: It runs the business in the same database transaction as the rows.
 * - `null-compensation`: It answers success, and the rows stay, so that they block the original when that comes.
 * - `duplicate`: It answers what is stored.
 * - `already-compensated`: It answers a failure with the code ALREADY_COMPENSATED.
 */
export type BarrierDecision = 'run' | 'null-compensation' | 'duplicate' | 'already-compensated'

/**
 * Says what the inserts of `barrierRows` found. The rows have to be read only for a call whose own row stood already.
 */
export type BarrierFound =
  | { readonly ownInserted: true; readonly originInserted: boolean }
  | { readonly ownInserted: false; readonly standing: readonly BarrierRow[] }

const ORIGIN: { readonly [op in Op]?: Op } = { compensate: 'action', cancel: 'try' }
const UNDO: { readonly [op in Op]?: Op } = { action: 'compensate', try: 'cancel' }

/** Returns the op that this op undoes, if it undoes one. */
export function findOriginOp(op: Op): Op | undefined {
  return ORIGIN[op]
}

/** Returns the op that undoes this op, if there is one. */
export function findUndoOp(op: Op): Op | undefined {
  return UNDO[op]
}

/**
 * Returns the rows to insert before the decision is asked: first the origin's, if the op has one, then the op's own. An
 * insert is ignored if its row stands already. A driver inserts them in one order for all calls, so that two calls of one
 * branch cannot deadlock.
 */
export function barrierRows(op: Op): readonly BarrierRow[] {
  const own = { op, reason: op }
  const origin = findOriginOp(op)
  return origin === undefined ? [own] : [{ op: origin, reason: op }, own]
}

/**
 * Holds the whole rule. If an undo could insert its origin's row, it came before the original: the original never ran
 * and, since this row now stands, never will. If an original finds that its row stands, either the same call was here
 * before or it is undone, and only the rows of (gid, branch) tell which: after a real compensation the original's row
 * still has the original's own op as its reason.
 */
export function decideBarrier(op: Op, found: BarrierFound): BarrierDecision {
  if (found.ownInserted) return found.originInserted ? 'null-compensation' : 'run'
  return found.standing.some((row) => undoes(row, op)) ? 'already-compensated' : 'duplicate'
}

function undoes(row: BarrierRow, op: Op): boolean {
  return row.op === op ? row.reason !== op : row.op === UNDO[op]
}

/** Says how the local transaction of a two-phase message ended. It is `unknown` if its row cannot be seen. */
export type LocalOutcome = 'committed' | 'rolled-back' | 'unknown'

/**
 * A query-back inserts this row in a database transaction of its own that always commits. The insert is ignored if
 * the row stands already, and waits for the end of the local transaction if that is under way.
 */
export const QUERY_BACK_ROW: BarrierRow = { op: 'msg', reason: 'rollback' }

/**
 * Holds the rule of the query-back. If the row of the query-back is new, no local transaction had committed, and now
 * none ever will, because its insert of the same key would fail. If a row stood, the reason in it tells whether the
 * local transaction or a query-back inserted it. A row with an instant before `since` belongs to an earlier message of
 * the same gid. Such a row says nothing about this message, but it keeps this message's local transaction from
 * committing.
 */
export function decideQueryBack(
  found: { readonly inserted: true } | { readonly inserted: false; readonly standing: readonly BarrierRow[] },
  since = 0,
): LocalOutcome {
  if (found.inserted) return 'rolled-back'
  const row = found.standing.find(({ op }) => op === 'msg')
  if (row !== undefined && isOfOtherTransaction(row, since)) return 'rolled-back'
  switch (row?.reason) {
    case 'msg':
      return 'committed'
    case 'rollback':
      return 'rolled-back'
    default:
      return 'unknown'
  }
}

/**
 * Tells whether the caller has to roll back its open database transaction. A local transaction that finds its row has
 * run before, or is refused. If it committed without a row of its own, its sender would take it for done.
 */
export function mustRollBack(op: Op, decision: BarrierDecision): boolean {
  return op === 'msg' && decision !== 'run'
}
