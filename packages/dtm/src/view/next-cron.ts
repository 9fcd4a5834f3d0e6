import type { OpView, TransactionView } from '@counterstep/protocol'

/** DTM shows these as `next_cron_time` and `next_cron_interval`. */
export interface NextCron {
  readonly at: number
  readonly intervalS: number
}

/** Finds when the next call is due, and how long that wait is. `firstIntervalS` is the wait before the first retry. */
export function findNextCron(view: TransactionView, firstIntervalS: number): NextCron {
  const { finishedAt, updatedAt } = view
  if (finishedAt !== undefined) return { at: finishedAt, intervalS: firstIntervalS }
  const ops = [
    ...(view.check === undefined ? [] : [view.check]),
    ...(view.plan === undefined ? [] : [view.plan]),
    ...view.branches.flatMap((branch) => branch.ops),
  ]
  const waits = ops
    .filter(({ state }) => state === 'waiting')
    .map((op) => toNextCron(op, view, firstIntervalS))
  const [first, ...others] = waits
  if (first !== undefined) return others.reduce((one, other) => (other.at < one.at ? other : one), first)
  // If nothing waits and nothing is planned, a branch is being called right now.
  return { at: findPlannedAt(view, ops) ?? updatedAt, intervalS: firstIntervalS }
}

/** If an operation has no `nextAt`, an operator has reset it, and it has been due since then. */
function toNextCron(
  { nextAt, endedAt }: OpView,
  { updatedAt }: TransactionView,
  firstIntervalS: number,
): NextCron {
  if (nextAt === undefined || endedAt === undefined)
    return { at: nextAt ?? updatedAt, intervalS: firstIntervalS }
  return { at: nextAt, intervalS: Math.max(1, Math.round((nextAt - endedAt) / 1_000)) }
}

/** Finds the instant that is planned before any call: the delayed start, or the decision about a prepared transaction. */
function findPlannedAt(view: TransactionView, ops: readonly OpView[]): number | undefined {
  if (view.status === 'prepared') return view.checkAt ?? view.deadlineAt
  return ops.every(({ attempts }) => attempts === 0) ? view.startAt : undefined
}
