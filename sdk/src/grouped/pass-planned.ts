import { barrierRows } from '@counterstep/barrier'
import { decideCall, heldBack, type StandingRow } from '../barrier/decide-call.ts'
import type { GroupCall, GroupVerdict } from './group-barrier.ts'
import { GroupRolledBack } from './group-rolled-back.ts'
import type { GroupTable } from './group-table.ts'
import type { GroupPlan } from './planned-apply.ts'
import { type GroupWork, removeFailed, runWave } from './run-wave.ts'
import { type Steps, waited } from './steps.ts'
import { byBranch, type Member } from './wave.ts'

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
  wave: readonly Member[],
  { plan, deadline }: GroupWork,
  verdicts: GroupVerdict[],
  isOneOfSeveral: boolean,
): Steps<number | undefined> {
  const { planned } = table
  if (plan === undefined || planned === undefined || !wave.every(hasOneRow)) return undefined
  for (let plans = 0; plans < PLANS_MAX; plans++) {
    const standing = yield* waited(planned.look(wave.map(({ admitted }) => admitted)))
    if (standing === undefined) return undefined
    const running = wave.filter((member) => {
      const { op, branch } = member.admitted
      const rows = standing.get(branch) ?? []
      const stands = rows.some((row) => row.op === op)
      if (stands) verdicts[member.place] = verdictOf(member, rows)
      return !stands
    })
    if (running.length === 0) return 0
    let made: GroupPlan | undefined
    const apply = async (calls: readonly GroupCall<unknown>[]) => {
      made = await plan(calls)
      return made.results
    }
    const { kept, failed } = yield* runWave(running, { apply, deadline }, verdicts)
    const rows = [...kept, ...failed].sort(byBranch)
    if (!(yield* waited(planned.insert(rows)))) continue
    yield* written(made)
    yield* removeFailed(table, failed, kept.length, isOneOfSeveral)
    yield* waited(planned.end())
    return kept.length
  }
  return undefined
}

/** Of an undo there are two, and what it does depends on the first. */
function hasOneRow({ admitted }: Member): boolean {
  return barrierRows(admitted.op).length === 1
}

/** Of a call whose row stands. */
function verdictOf({ admitted: { op } }: Member, rows: readonly StandingRow[]): GroupVerdict {
  try {
    const outcome = heldBack(op, decideCall(op, new Set(), rows), rows)
    if (outcome === undefined) throw new Error(`the row of this ${op} stands, and nothing holds it back`)
    return { outcome }
  } catch (error: unknown) {
    return { error }
  }
}

/** There is none where no call came so far. */
function* written(plan: GroupPlan | undefined): Steps<void> {
  try {
    if (plan !== undefined) yield* waited(plan.write())
  } catch (error: unknown) {
    throw new GroupRolledBack(error)
  }
}
