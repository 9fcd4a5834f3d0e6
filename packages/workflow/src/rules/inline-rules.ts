import { PLAN_BYTES_MAX, type PlanGrant } from '@counterstep/protocol'

/** Counts the steps and runs within one plan call, and their use of it. */
export interface InlineSpent {
  /** How many have run. */
  readonly count: number
  readonly hasRun: boolean
  readonly hasFailed: boolean
  readonly bytes: number
  /** Half of the time that the plan call has. */
  readonly isHalfOfTimeOver: boolean
}

/** Everything that decides where a step runs. */
export interface StepPlace {
  readonly hasBarrier: boolean
  readonly isPivot: boolean
  /** Nothing else was asked for in the same turn. */
  readonly isAlone: boolean
  readonly grant: PlanGrant
}

/**
 * Says where a step runs: within the plan call, or by a call of its own. Steps that stand beside others get calls of their
 * own, which run at the same time. The place follows from the journal alone, so it is the same on every attempt.
 */
export function placeStep({ hasBarrier, isPivot, isAlone, grant }: StepPlace): 'inline' | 'own-call' {
  return hasBarrier && !isPivot && isAlone && grant.count > 0 ? 'inline' : 'own-call'
}

/**
 * Says whether the next step or `ctx.run` runs now, or after another plan. The first of a plan call runs however little
 * time and room there is, so that each plan gets further.
 *
 * A failure ends the run, because the barrier has rolled its row back: another attempt may see a success. A step does
 * not run behind a `ctx.run`, because another attempt would get another value, and the row would keep what was built
 * from the first one.
 */
export function mayRunInline(
  is: 'run' | 'step',
  slot: number,
  spent: InlineSpent,
  { grant, bytesLeft }: { readonly grant: PlanGrant; readonly bytesLeft: number },
): boolean {
  if (spent.hasFailed) return false
  if (is === 'step' && (spent.hasRun || slot >= grant.from + grant.count)) return false
  const isRoomLeft = spent.bytes * 2 < Math.min(bytesLeft, PLAN_BYTES_MAX)
  return spent.count === 0 || (!spent.isHalfOfTimeOver && isRoomLeft)
}

export function nameSlot(slot: number): string {
  return `~${slot}`
}
