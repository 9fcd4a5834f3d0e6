import type { BranchCheckPlan } from '../branch-check.ts'
import type { BranchIds } from '../branch-under-test.ts'
import { atOnce, FAILURE, mustHaveChanged, mustSucceed, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import type { Trial } from '../trial.ts'
import { RuleBroken } from '../verdict.ts'

export const compensationFirst: BranchCheckPlan = {
  name: 'compensation-first',
  needs: ['two-gids'],
  examine: async (trial, run) => {
    const ids = trial.newBranch()
    await compensateNothing(trial, ids)
    // If duplicates are not recognized, the compensation would run twice for that reason.
    if (run.hasPassed('duplicates')) await compensateNothing(trial, ids)
  },
}

async function compensateNothing(trial: Trial, ids: BranchIds): Promise<void> {
  const start = await trial.readFirst(ids)
  const { statusCode } = await trial.ask('compensation', ids)
  const code = 'COMPENSATION_WITHOUT_ACTION'
  await mustHaveChanged(
    trial,
    { start, ids, expected: [NOTHING] },
    { code, what: 'the compensation of an action that never ran' },
  )
  if (statusCode !== SUCCESS) {
    throw new RuleBroken(code, `the compensation of an action that never ran was answered ${statusCode}`)
  }
}

export const actionAfterCompensation: BranchCheckPlan = {
  name: 'action-after-compensation',
  needs: ['compensation-first'],
  examine: async (trial, run) => {
    const never = trial.newBranch()
    await mustSucceed(trial, 'compensation', never, 'COMPENSATION_WITHOUT_ACTION')
    await actTooLate(trial, never)
    await actTooLate(trial, never)
    if (!run.hasPassed('duplicates')) return
    const done = trial.newBranch()
    await mustSucceed(trial, 'action', done, 'ACTION_NOT_DONE')
    await mustSucceed(trial, 'compensation', done, 'COMPENSATION_NOT_DONE')
    await actTooLate(trial, done)
  },
}

async function actTooLate(trial: Trial, ids: BranchIds): Promise<void> {
  const start = await trial.readFirst(ids)
  const { statusCode } = await trial.ask('action', ids)
  const what = 'the action that came after its compensation'
  await mustHaveChanged(
    trial,
    { start, ids, expected: [NOTHING] },
    { code: 'ACTION_RAN_AFTER_COMPENSATION', what },
  )
  if (statusCode !== FAILURE) {
    throw new RuleBroken('LATE_ACTION_NOT_REFUSED', `${what} was answered ${statusCode}`)
  }
}

export const actionAgainstCompensation: BranchCheckPlan = {
  name: 'action-against-compensation',
  needs: ['concurrent-duplicates', 'action-after-compensation'],
  examine: async (trial, { branch: { rounds } }) => {
    for (let round = 0; round < rounds; round++) {
      await race(trial, ['action', 'compensation'])
      await race(trial, ['compensation', 'action'])
    }
  },
}

async function race(trial: Trial, roles: readonly ('action' | 'compensation')[]): Promise<void> {
  const { both } = trial.run.learned
  const ids = trial.newBranch()
  const start = await trial.readFirst(ids)
  const answers = await atOnce(roles.map((role) => () => trial.ask(role, ids)))
  const readStatus = (role: 'action' | 'compensation') => answers[roles.indexOf(role)]?.statusCode
  const action = readStatus('action')
  const compensation = readStatus('compensation')
  const what = `an action (${action}) and its compensation (${compensation}) at once`
  const code = 'ACTION_RACED_COMPENSATION'
  // An action that is refused may have run all the same, if its first answer was a 500.
  const expected = action === SUCCESS ? [both.text] : [NOTHING, both.text]
  await mustHaveChanged(trial, { start, ids, expected }, { code, what })
  if (compensation !== SUCCESS || (action !== SUCCESS && action !== FAILURE)) {
    throw new RuleBroken(
      code,
      `${what}: only 200 for the compensation, and 200 or 409 for the action, is an order`,
    )
  }
}
