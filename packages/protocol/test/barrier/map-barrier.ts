import type { Op } from '@counterstep/protocol'
import {
  type BarrierDecision,
  type BarrierReason,
  type BarrierRow,
  barrierRows,
  decideBarrier,
  decideQueryBack,
  findOriginOp,
  type LocalOutcome,
  mustRollBack,
  QUERY_BACK_ROW,
} from '@counterstep/protocol/barrier'

/** A driver over a Map, as the simulator has one: it inserts, asks and reads, and decides nothing. */
export class MapBarrier {
  readonly #rows = new Map<string, Map<Op, BarrierReason>>()

  /** Runs one call, whose database transaction commits if `commits` is true. A business failure leaves no row. */
  arrive(key: string, op: Op, commits = true): BarrierDecision {
    const before = this.#rows.get(key) ?? new Map<Op, BarrierReason>()
    const rows = new Map(before)
    const inserted = new Set<Op>()
    for (const row of barrierRows(op)) {
      if (rows.has(row.op)) continue
      rows.set(row.op, row.reason)
      inserted.add(row.op)
    }
    const origin = findOriginOp(op)
    const decision = inserted.has(op)
      ? decideBarrier(op, { ownInserted: true, originInserted: origin !== undefined && inserted.has(origin) })
      : decideBarrier(op, { ownInserted: false, standing: asRows(rows) })
    if (commits && !mustRollBack(op, decision)) this.#rows.set(key, rows)
    return decision
  }

  queryBack(key: string): LocalOutcome {
    const rows = this.#rows.get(key) ?? new Map<Op, BarrierReason>()
    const inserted = !rows.has(QUERY_BACK_ROW.op)
    if (inserted) rows.set(QUERY_BACK_ROW.op, QUERY_BACK_ROW.reason)
    this.#rows.set(key, rows)
    return decideQueryBack(inserted ? { inserted } : { inserted, standing: asRows(rows) })
  }
}

function asRows(rows: ReadonlyMap<Op, BarrierReason>): BarrierRow[] {
  return [...rows].map(([op, reason]) => ({ op, reason }))
}
