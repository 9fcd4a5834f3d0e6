import type { Op } from '@counterstep/protocol'
import { type CallDecision, type StandingRow, settleWithoutEffect } from '../barrier/decide-call.ts'
import type { GroupVerdict } from './group-barrier.ts'

/**
 * Tells whether some call gets an answer other than an error. The transaction of such a group has to commit: the answer
 * may rest on rows that stand, and only a COMMIT can wait until these are durable.
 */
export function hasOutcome(verdicts: readonly GroupVerdict[]): boolean {
  return verdicts.some((verdict) => 'outcome' in verdict)
}

/**
 * Returns the verdict of a call whose effect must not run, or undefined if it has to run. An error concerns only the
 * call's own branch.
 */
export function toSettledVerdict(
  op: Op,
  decision: CallDecision,
  standing: readonly StandingRow[],
  mustUndo = false,
): GroupVerdict | undefined {
  try {
    const outcome = settleWithoutEffect(op, decision, standing, mustUndo)
    return outcome && { outcome }
  } catch (error: unknown) {
    return { error }
  }
}
