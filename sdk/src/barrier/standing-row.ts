import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { StandingRow } from './decide-call.ts'

/**
 * Reads a row that a SQL driver returned as texts, in the order op, reason, answer, created_at. The columns hold only
 * values that `insert` wrote.
 */
export function readStandingRow([op, reason, answer, createdAt]: readonly (string | null)[]): StandingRow {
  return {
    op: op as Op,
    reason: reason as BarrierReason,
    answer: answer ?? null,
    createdAt: Number(createdAt),
  }
}

export const ROW_GONE = 'the row of an undo that has nothing to undo is gone already'
