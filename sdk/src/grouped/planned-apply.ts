import type { GroupApply, GroupCall } from './group-barrier.ts'
import type { Waited } from './steps.ts'

/** What a group comes to, before any of it is written. */
export interface GroupPlan {
  /** One for each call, as an `apply` returns them; none of them a `TakenOut`. */
  readonly results: readonly unknown[]
  /** Writes what the results tell of, and nothing of a call whose result is an Error. */
  write(): Waited<void>
}

export type MakePlan<Tx, Entry> = (tx: Tx, calls: readonly GroupCall<Entry>[]) => Waited<GroupPlan>

const PLAN = Symbol('plan')

/**
 * An `apply` that can also say what it will answer before it writes: the barrier's rows go in with their answers, where
 * they would have to be written twice. Only for what this package does itself: while a plan is made the rows do not stand
 * yet, so it must neither write nor end the transaction.
 */
export function plannedApply<Tx, Entry>(
  apply: GroupApply<Tx, Entry>,
  plan: MakePlan<Tx, Entry>,
): GroupApply<Tx, Entry> {
  return Object.assign(apply, { [PLAN]: plan })
}

/** Undefined for an `apply` that can not, and for one of another copy of this package. */
export function planOf<Tx, Entry>(apply: GroupApply<Tx, Entry>): MakePlan<Tx, Entry> | undefined {
  return PLAN in apply ? (apply[PLAN] as MakePlan<Tx, Entry>) : undefined
}
