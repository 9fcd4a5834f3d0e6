import type { GroupApply, GroupCall } from './group-barrier.ts'
import type { Awaitable } from './steps.ts'

/** The outcome of a group, before any of it is written. */
export interface GroupPlan {
  /** It has one result for each call, as an `apply` returns them. None of them is a `TakenOut`. */
  readonly results: readonly unknown[]
  /** Writes the effects of the calls that succeeded, and nothing of a call whose result is an Error. */
  write(): Awaitable<void>
}

export type MakePlan<Tx, Entry> = (tx: Tx, calls: readonly GroupCall<Entry>[]) => Awaitable<GroupPlan>

const plans = new WeakMap<object, unknown>()

/**
 * Registers the plan of an `apply` that can decide its answers before it writes. The barrier's rows then go in together
 * with their answers, and need not be written twice. It is only for functions of this package: while a plan is made the
 * rows do not stand yet, so the plan must neither write nor end the transaction. The answers have to be short, because
 * all answers of a group go in one statement.
 */
export function registerPlan<Tx, Entry>(
  apply: GroupApply<Tx, Entry>,
  plan: MakePlan<Tx, Entry>,
): GroupApply<Tx, Entry> {
  plans.set(apply, plan)
  return apply
}

/**
 * Returns the plan of an `apply`, or undefined if it has none. A wrapper around such an `apply` has none, so the
 * wrapper is called.
 */
export function findPlan<Tx, Entry>(apply: GroupApply<Tx, Entry>): MakePlan<Tx, Entry> | undefined {
  return plans.get(apply) as MakePlan<Tx, Entry> | undefined
}
