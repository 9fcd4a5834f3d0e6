import { sleep } from '../../sleep.ts'
import type { BranchCheckPlan } from '../branch-check.ts'
import type { BranchIds } from '../branch-under-test.ts'
import { atOnce, mustBeRepeated, mustHaveChanged, mustSucceed, SUCCESS, times } from '../expectations.ts'
import type { Role, Trial } from '../trial.ts'
import { RuleBroken } from '../verdict.ts'

export const duplicates: BranchCheckPlan = {
  name: 'duplicates',
  needs: ['two-gids'],
  examine: async (trial) => {
    const ids = trial.newBranch()
    for (const role of ['action', 'compensation'] as const) {
      const code = role === 'action' ? 'ACTION_NOT_DONE' : 'COMPENSATION_NOT_DONE'
      const first = await mustSucceed(trial, role, ids, code)
      await mustBeRepeated(trial, { role, ids, first })
      await mustBeRepeated(trial, { role, ids, first })
    }
  },
}

/**
 * A call may come again hours later, when a cache has forgotten it. The check waits for that once, for both ops
 * together.
 */
export const lateDuplicates: BranchCheckPlan = {
  name: 'late-duplicates',
  needs: ['duplicates'],
  lacks: ({ lingerMs }) => (lingerMs === 0 ? 'no lingerMs was given' : undefined),
  examine: async (trial, { branch: { lingerMs } }) => {
    const [done, undone] = [trial.newBranch(), trial.newBranch()]
    const action = await mustSucceed(trial, 'action', done, 'ACTION_NOT_DONE')
    await mustSucceed(trial, 'action', undone, 'ACTION_NOT_DONE')
    const undo = await mustSucceed(trial, 'compensation', undone, 'COMPENSATION_NOT_DONE')
    trial.did('lingers')
    await sleep(lingerMs)
    await mustBeRepeated(trial, { role: 'action', ids: done, first: action })
    await mustBeRepeated(trial, { role: 'compensation', ids: undone, first: undo })
  },
}

export const concurrentDuplicates: BranchCheckPlan = {
  name: 'concurrent-duplicates',
  needs: ['duplicates'],
  examine: async (trial, { branch: { rounds }, learned: { once, both } }) => {
    for (let round = 0; round < rounds; round++) {
      const ids = trial.newBranch()
      const start = await trial.readFirst(ids)
      await many(trial, 'action', { ids, start, expected: once.text })
      await many(trial, 'compensation', { ids, start, expected: both.text })
    }
  },
}

async function many(
  trial: Trial,
  role: Role,
  { ids, start, expected }: { ids: BranchIds; start: string; expected: string },
): Promise<void> {
  const { width } = trial.run.branch
  const answers = await atOnce(times(width, () => () => trial.ask(role, ids)))
  await mustHaveChanged(
    trial,
    { start, ids, expected: [expected] },
    { code: 'CONCURRENT_DUPLICATES_RAN_TWICE', what: `${width} of one ${role} at once` },
  )
  const other = answers.find(({ statusCode }) => statusCode !== SUCCESS)
  if (other === undefined) return
  throw new RuleBroken(
    'DUPLICATE_REFUSED',
    `of ${width} of one ${role} at once, one was answered ${other.statusCode}`,
  )
}
