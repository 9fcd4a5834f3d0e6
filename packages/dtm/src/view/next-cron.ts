import type { OpView, TransactionView } from '@counterstep/protocol'

/** DTM's `next_cron_time` and `next_cron_interval`. */
export interface NextLook {
  readonly at: number
  readonly intervalS: number
}

/** When the transaction is looked at next, and how long that wait is. `firstIntervalS` is the one before any retry. */
export function nextLook(view: TransactionView, firstIntervalS: number): NextLook {
  const { finishedAt, updatedAt } = view
  if (finishedAt !== undefined) return { at: finishedAt, intervalS: firstIntervalS }
  const ops = [
    ...(view.check === undefined ? [] : [view.check]),
    ...view.branches.flatMap((branch) => branch.ops),
  ]
  const waits = ops.filter(({ state }) => state === 'waiting').map((op) => waitOf(op, view, firstIntervalS))
  const [first, ...others] = waits
  if (first !== undefined) return others.reduce((one, other) => (other.at < one.at ? other : one), first)
  // Neither waiting nor to be started: it is being called.
  return { at: plannedAt(view, ops) ?? updatedAt, intervalS: firstIntervalS }
}

/** An operation without an instant has been due since an operator reset it. */
function waitOf(
  { nextAt, endedAt }: OpView,
  { updatedAt }: TransactionView,
  firstIntervalS: number,
): NextLook {
  if (nextAt === undefined || endedAt === undefined)
    return { at: nextAt ?? updatedAt, intervalS: firstIntervalS }
  return { at: nextAt, intervalS: Math.max(1, Math.round((nextAt - endedAt) / 1_000)) }
}

/** The instant that is planned before any call: the start, or when a prepared transaction is decided. */
function plannedAt(view: TransactionView, ops: readonly OpView[]): number | undefined {
  if (view.status === 'prepared') return view.checkAt ?? view.deadlineAt
  return ops.every(({ attempts }) => attempts === 0) ? view.startAt : undefined
}
