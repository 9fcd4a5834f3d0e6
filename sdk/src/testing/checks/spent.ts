import type { BranchCheckPlan } from '../branch-check.ts'
import { mustSucceed } from '../expectations.ts'

/** A compensation has no way to fail. What it leaves behind then (a debt, a seat sold twice) is the business's own. */
export const spent: BranchCheckPlan = {
  name: 'spent',
  needs: ['two-gids'],
  lacks: ({ spend }) => (spend === undefined ? 'no spend was given' : undefined),
  examine: async (trial, { branch }) => {
    const ids = trial.newBranch()
    await mustSucceed(trial, 'action', ids, 'ACTION_NOT_DONE')
    trial.did('spend')
    await branch.spend?.()
    await mustSucceed(trial, 'compensation', ids, 'COMPENSATION_NOT_DONE')
  },
}
