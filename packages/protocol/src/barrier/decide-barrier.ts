import type { Op } from '../words.ts'
import { isOfOtherTransaction } from './row-instants.ts'

/** What a late original is told, as the `code` of its 409: the saga's abort decision may have been lost. */
export const ALREADY_COMPENSATED = 'ALREADY_COMPENSATED'

/** Why a row is there: the op that inserted it, or `rollback` where a query-back refused a two-phase message. */
export type BarrierReason = Op | 'rollback'

/** One row of the barrier, under (gid, branch). The key is (gid, branch, op). */
export interface BarrierRow {
  readonly op: Op
  readonly reason: BarrierReason
  /** The instant of `rowInstants`, as epoch milliseconds; absent where it was not kept. */
  readonly createdAt?: number
}

/**
 * `run`: call the business, in the same database transaction as the rows. All others touch no business data.
 * `null-compensation`: success, and the rows stay, so that the original is blocked when it comes.
 * `duplicate`: replay the stored answer. `already-compensated`: a failure with code ALREADY_COMPENSATED.
 */
export type BarrierDecision = 'run' | 'null-compensation' | 'duplicate' | 'already-compensated'

/** What the inserts of `barrierRows` found. Only a call whose own row stood already has to read. */
export type BarrierFound =
  | { readonly ownInserted: true; readonly originInserted: boolean }
  | { readonly ownInserted: false; readonly standing: readonly BarrierRow[] }

const ORIGIN: { readonly [op in Op]?: Op } = { compensate: 'action', cancel: 'try' }
const UNDO: { readonly [op in Op]?: Op } = { action: 'compensate', try: 'cancel' }

/** What the op undoes, if it undoes something. */
export function originOf(op: Op): Op | undefined {
  return ORIGIN[op]
}

/** What undoes the op, if something does. */
export function undoOf(op: Op): Op | undefined {
  return UNDO[op]
}

/**
 * The rows to insert, each ignored where it stands already, before the decision is asked: first the origin's, if the
 * op has one, then the op's own. Always in this order, so that two calls of one branch cannot deadlock.
 */
export function barrierRows(op: Op): readonly BarrierRow[] {
  const own = { op, reason: op }
  const origin = originOf(op)
  return origin === undefined ? [own] : [{ op: origin, reason: op }, own]
}

/**
 * The whole rule. An undo that could insert its origin's row came before it: the original never ran and, its row now
 * standing, never will. An original that finds its row was either here before or is undone, and only the rows of
 * (gid, branch) tell which: after a real compensation the original's own row still gives itself as the reason.
 */
export function decideBarrier(op: Op, found: BarrierFound): BarrierDecision {
  if (found.ownInserted) return found.originInserted ? 'null-compensation' : 'run'
  return found.standing.some((row) => undoes(row, op)) ? 'already-compensated' : 'duplicate'
}

function undoes(row: BarrierRow, op: Op): boolean {
  return row.op === op ? row.reason !== op : row.op === UNDO[op]
}

/** What became of the local transaction of a two-phase message; `unknown` where its row cannot be seen. */
export type LocalOutcome = 'committed' | 'rolled-back' | 'unknown'

/**
 * The row that a query-back inserts, ignored where it stands already, in a database transaction of its own that always
 * commits. Where the local transaction is under way, the insert waits for its end.
 */
export const QUERY_BACK_ROW: BarrierRow = { op: 'msg', reason: 'rollback' }

/**
 * The rule of the query-back. If its row is new, no local transaction had committed, and now none ever will: its own
 * insert of the same key fails. If one stood, its reason tells whose it is. A row with an instant before `since` is an
 * earlier message's of the same gid. It says nothing of this one, but it keeps its local transaction from committing.
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
 * Whether the caller has to roll back what it has open. A local transaction that finds its row has run before, or is
 * refused: to commit without it would let its sender believe that it has been done.
 */
export function mustRollBack(op: Op, decision: BarrierDecision): boolean {
  return op === 'msg' && decision !== 'run'
}
