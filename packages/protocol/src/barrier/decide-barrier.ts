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
  /** This is the instant of `rowInstants` in epoch milliseconds. It is absent if it was not kept. */
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

/** Says what the inserts of `barrierRows` found. Only a call whose own row stood already has to read the rows. */
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
 * Holds the whole rule. An undo that could insert its origin's row came before the original: that one never ran and,
 * since its row now stands, never will. An original that finds its row either was here before or is undone, and only
 * the rows of (gid, branch) tell which: after a real compensation the original's own row still gives itself as the
 * reason.
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
 * Holds the rule of the query-back. If its row is new, no local transaction had committed, and now none ever will,
 * because its insert of the same key fails. If a row stood, its reason tells whose it is. A row with an instant
 * before `since` is an earlier message's of the same gid. It says nothing of this one, but it keeps its local
 * transaction from committing.
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
 * Tells whether the caller has to roll back its open database transaction. A local transaction that finds its row has run
 * before, or is refused: if it committed without its row, its sender would believe that it has been done.
 */
export function mustRollBack(op: Op, decision: BarrierDecision): boolean {
  return op === 'msg' && decision !== 'run'
}
