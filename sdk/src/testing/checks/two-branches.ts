import type { BranchCheckPlan } from '../branch-check.ts'
import type { WireAnswer } from '../branch-service.ts'
import { mustHaveChanged, mustSucceed, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import { RuleBroken } from '../verdict.ts'

/** A compensation tells most about the key, since its effect shows in any kind of state. */
export const twoBranches: BranchCheckPlan = {
  name: 'two-branches',
  needs: ['duplicates', 'compensation-first'],
  examine: async (trial, { learned: { once } }) => {
    const code = 'BRANCHES_MIXED'
    const ids = trial.newBranch()
    await mustSucceed(trial, 'action', ids, 'ACTION_NOT_DONE')
    const other = { ...ids, branchId: '02' }
    const start = await trial.readFirst(other)
    mustBe200(
      await trial.ask('compensation', other),
      'the compensation of branch 02, whose action never ran,',
    )
    await mustHaveChanged(
      trial,
      { start, ids: other, expected: [NOTHING] },
      { code, what: 'after the action of branch 01, the compensation of branch 02' },
    )
    mustBe200(
      await trial.ask('action', ids),
      'after the compensation of branch 02, the action of branch 01 again',
    )
    const third = { ...ids, branchId: '03' }
    const before = await trial.readFirst(third)
    mustBe200(await trial.ask('action', third), 'the action of branch 03')
    // If the state has no number, it may be the same after one branch as after two.
    const expected = once.isCountable ? [once.text] : [once.text, NOTHING]
    await mustHaveChanged(
      trial,
      { start: before, ids: third, expected },
      { code, what: 'the action of branch 03' },
    )
  },
}

function mustBe200({ statusCode }: WireAnswer, what: string): void {
  if (statusCode !== SUCCESS) throw new RuleBroken('BRANCHES_MIXED', `${what} was answered ${statusCode}`)
}
