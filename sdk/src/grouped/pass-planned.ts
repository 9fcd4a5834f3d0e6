import { barrierRows } from '@counterstep/protocol/barrier'
import { decideCall, type StandingRow } from '../barrier/decide-call.ts'
import { applyRound, blameCalls, type GroupWork, removeFailed } from './apply-round.ts'
import type { GroupCall, GroupVerdict } from './group-barrier.ts'
import type { GroupTable } from './group-table.ts'
import type { GroupPlan } from './planned-apply.ts'
import { compareBranches, type Member } from './rounds.ts'
import { toSettledVerdict } from './settled-verdict.ts'
import { type Steps, wait } from './steps.ts'

/**
 * Says how often a group is planned anew because other transactions have inserted rows in between. After that it goes row
 * by row.
 */
const PLANS_MAX = 3

/**
 * Passes the first round of a transaction by an `apply` that can decide before it writes. Each row goes in once, with
 * its answer, between the decision and the effect. If a row stands already, the insert is refused and the plan is
 * dropped, since nothing has been written yet. Refused calls get a row too until the insert has succeeded, because
 * the plan may have refused a call that already ran elsewhere. Returns how many rows are new, or undefined if the
 * round cannot be passed this way; nothing has been written then either.
 */
export function* passPlanned(
  table: GroupTable,
  round: readonly Member[],
  { plan, deadline }: GroupWork,
  verdicts: GroupVerdict[],
  isOneOfSeveral: boolean,
): Steps<number | undefined> {
  const { planned } = table
  if (plan === undefined || planned === undefined || !round.every(hasOneRow)) return undefined
  let standing = yield* wait(planned.findStanding(round.map(({ admitted }) => admitted)))
  let running = round
  for (let plans = 0; plans < PLANS_MAX && standing !== undefined; plans++) {
    running = keepUnsettled(running, standing, verdicts)
    if (running.length === 0) return 0
    let made: GroupPlan | undefined
    const apply = async (calls: readonly GroupCall<unknown>[]) => {
      made = await plan(calls)
      return made.results
    }
    const { kept, failed } = yield* applyRound(running, { apply, deadline }, verdicts)
    standing = yield* wait(planned.insert([...kept, ...failed].sort(compareBranches)))
    if (standing !== undefined) continue
    // There is no plan if every handler failed.
    yield* blameCalls(() => made?.write())
    yield* removeFailed(table, failed, verdicts, isOneOfSeveral)
    yield* wait(planned.end())
    return kept.length
  }
  return undefined
}

/** A compensation or cancel inserts two rows and its effect depends on the first, so it cannot be planned. */
function hasOneRow({ admitted }: Member): boolean {
  return barrierRows(admitted.op).length === 1
}

/** Returns the members whose own rows do not stand, and gives the others their verdicts. */
function keepUnsettled(
  members: readonly Member[],
  standing: ReadonlyMap<string, readonly StandingRow[]>,
  verdicts: GroupVerdict[],
): readonly Member[] {
  return members.filter(({ admitted: { op, branch, since }, place }) => {
    const rows = standing.get(branch) ?? []
    if (!rows.some((row) => row.op === op)) return true
    const verdict = toSettledVerdict(op, decideCall(op, new Set(), rows, since), rows)
    if (verdict !== undefined) verdicts[place] = verdict
    return verdict === undefined
  })
}
