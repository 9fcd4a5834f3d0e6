import type { Op } from '@counterstep/protocol'
import { type CallDecision, type StandingRow, settleWithoutEffect } from '../barrier/decide-call.ts'
import type { GroupVerdict } from './group-barrier.ts'

/** The verdict of a call whose effect must not run; undefined: then run it. What is wrong concerns its own branch alone. */
export function toSettledVerdict(
  op: Op,
  decision: CallDecision,
  standing: readonly StandingRow[],
): GroupVerdict | undefined {
  try {
    const outcome = settleWithoutEffect(op, decision, standing)
    return outcome && { outcome }
  } catch (error: unknown) {
    return { error }
  }
}
