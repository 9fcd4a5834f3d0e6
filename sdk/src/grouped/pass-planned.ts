import { barrierRows } from '@counterstep/protocol/barrier'
import { decideCall, type StandingRow } from '../barrier/decide-call.ts'
import { applyRound, blameCalls, type GroupWork, removeFailed } from './apply-round.ts'
import type { GroupCall, GroupVerdict } from './group-barrier.ts'
import type { GroupTable } from './group-table.ts'
import type { GroupPlan } from './planned-apply.ts'
import { compareBranches, type Member } from './rounds.ts'
import { toSettledVerdict } from './settled-verdict.ts'
import { type Steps, wait } from './steps.ts'

/** How often a group is planned because others' rows have come in between; then it is passed row by row. */
const PLANS_MAX = 3

/**
 * The first calls of a transaction, by an `apply` that can decide before it writes: each row goes in once, with its
 * answer, between the decision and the effect. A row that stands after all refuses the insert, and what was planned is
 * forgotten, since nothing has been written then. What is refused has a row until then, too: the plan may have refused
 * what has run before. Undefined where it cannot be done so, with nothing written either; otherwise how many rows are new.
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
  let standing = yield* wait(planned.look(round.map(({ admitted }) => admitted)))
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
    // Nothing was planned if every handler failed.
    yield* blameCalls(() => made?.write())
    yield* removeFailed(table, failed, kept.length, isOneOfSeveral)
    yield* wait(planned.end())
    return kept.length
  }
  return undefined
}

/** Of an undo there are two, and what it does depends on the first. */
function hasOneRow({ admitted }: Member): boolean {
  return barrierRows(admitted.op).length === 1
}

/** Those whose own rows do not stand; the others get their verdicts. */
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
