import type { GroupApply, GroupCall } from './group-barrier.ts'
import type { Awaitable } from './steps.ts'

/** What a group comes to, before any of it is written. */
export interface GroupPlan {
  /** One for each call, as an `apply` returns them; none of them a `TakenOut`. */
  readonly results: readonly unknown[]
  /** Writes what the results tell of, and nothing of a call whose result is an Error. */
  write(): Awaitable<void>
}

export type MakePlan<Tx, Entry> = (tx: Tx, calls: readonly GroupCall<Entry>[]) => Awaitable<GroupPlan>

const plans = new WeakMap<object, unknown>()

/**
 * An `apply` that can also say what it will answer before it writes: the barrier's rows go in with their answers, where
 * they would have to be written twice. Only for what this package does itself: while a plan is made the rows do not stand
 * yet, so it must neither write nor end the transaction. Answers have to be short: a group's go in one statement.
 */
export function registerPlan<Tx, Entry>(
  apply: GroupApply<Tx, Entry>,
  plan: MakePlan<Tx, Entry>,
): GroupApply<Tx, Entry> {
  plans.set(apply, plan)
  return apply
}

/** Undefined for any other `apply`, also for one that is wrapped: then the wrapper is called. */
export function findPlan<Tx, Entry>(apply: GroupApply<Tx, Entry>): MakePlan<Tx, Entry> | undefined {
  return plans.get(apply) as MakePlan<Tx, Entry> | undefined
}
