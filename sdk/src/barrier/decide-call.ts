import { type BarrierDecision, type BarrierRow, decideBarrier, originOf } from '@counterstep/barrier'
import type { Op } from '@counterstep/protocol'
import type { BarrierOutcome } from './barrier.ts'
import { EMPTY_ANSWER } from './stored-answer.ts'

/** A row that stood already, with the answer that was stored in it. */
export interface StandingRow extends BarrierRow {
  /** Null in a row that blocks an original. */
  readonly answer: string | null
}

/** The ops whose rows the inserts of one call made. What a driver, or a group of calls, found out. */
export type InsertedOps = ReadonlySet<Op>

/** The one place between a driver's findings and the rule. `standing` matters only if the own row stood already. */
export function decideCall(op: Op, inserted: InsertedOps, standing: readonly BarrierRow[]): BarrierDecision {
  if (!inserted.has(op)) return decideBarrier(op, { ownInserted: false, standing })
  const origin = originOf(op)
  return decideBarrier(op, {
    ownInserted: true,
    originInserted: origin !== undefined && inserted.has(origin),
  })
}

/** The outcome of a call whose effect must not run, or undefined: then run it. */
export function heldBack(
  op: Op,
  decision: BarrierDecision,
  standing: readonly StandingRow[],
): BarrierOutcome | undefined {
  if (decision === 'run') return undefined
  if (decision !== 'duplicate') return { decision }
  return outcomeOf(decision, standing.find((row) => row.op === op)?.answer ?? EMPTY_ANSWER)
}

export function outcomeOf(decision: BarrierDecision, answer: string): BarrierOutcome {
  return answer === EMPTY_ANSWER ? { decision } : { decision, answer }
}
