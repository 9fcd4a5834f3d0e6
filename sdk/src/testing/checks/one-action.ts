import type { BranchCheckPlan } from '../branch-check.ts'
import type { BranchIds } from '../branch-under-test.ts'
import { mustHaveChanged, mustSucceed } from '../expectations.ts'
import { changeOf, NOTHING } from '../state-change.ts'
import type { Trial } from '../trial.ts'
import { RuleBroken, Undecided } from '../verdict.ts'

/** What everything else is compared with is learned here. */
export const oneActionAndItsCompensation: BranchCheckPlan = {
  name: 'one-action-and-its-compensation',
  needs: [],
  examine: async (trial, { learned }) => {
    const ids = trial.newBranch()
    const start = await trial.readFirst(ids)
    if ((await trial.read(ids)) !== start) {
      throw new Undecided('read shows something else each time, though nothing was called in between')
    }
    await mustSucceed(trial, 'action', ids, 'ACTION_NOT_DONE')
    const action = await firstChange(trial, ids, start)
    if (action.state === start) {
      throw new RuleBroken(
        'ACTION_NOT_DONE',
        'the action was answered 200, and read shows what it showed before',
      )
    }
    await mustSucceed(trial, 'compensation', ids, 'COMPENSATION_NOT_DONE')
    const undo = await firstChange(trial, ids, action.state)
    if (undo.state === action.state) {
      const found = 'the compensation was answered 200, and read shows what it showed before'
      throw new RuleBroken('COMPENSATION_NOT_DONE', found)
    }
    learned.once = changeOf(start, action.state)
    learned.undo = changeOf(action.state, undo.state)
    learned.both = changeOf(start, undo.state)
    learned.lagMs = Math.max(action.lagMs, undo.lagMs)
  },
}

export const twoGids: BranchCheckPlan = {
  name: 'two-gids',
  needs: ['one-action-and-its-compensation'],
  examine: async (trial, { learned: { once } }) => {
    const { gid } = trial.newBranch()
    const small = { gid: `${gid}-a`, branchId: '01' }
    const start = await trial.readFirst(small)
    await mustSucceed(trial, 'action', small, 'ACTION_NOT_DONE')
    const change = await trial.changeSince(start, small, [once.text])
    if (change.text !== once.text && change.text !== NOTHING) {
      throw new Undecided(
        `one action changed ${once.text}, the next one ${change.text}: what read returns must change alike each time (no times, no generated ids), and nobody else may change it`,
      )
    }
    if (change.text === NOTHING) {
      throw new RuleBroken('GIDS_MIXED', 'the action of a second gid was answered 200, and changed nothing')
    }
    // In a column whose collation ignores case they would be one.
    const capital = { gid: `${gid}-A`, branchId: '01' }
    const between = await trial.readFirst(capital)
    await mustSucceed(trial, 'action', capital, 'GIDS_MIXED')
    await mustHaveChanged(
      trial,
      { start: between, ids: capital, expected: [once.text] },
      { code: 'GIDS_MIXED', what: `the action of ${capital.gid}, after that of ${small.gid},` },
    )
  },
}

async function firstChange(
  trial: Trial,
  ids: BranchIds,
  before: string,
): Promise<{ readonly state: string; readonly lagMs: number }> {
  const answeredAt = performance.now()
  const atOnce = await trial.read(ids)
  if (atOnce !== before) return { state: atOnce, lagMs: 0 }
  const state = await trial.readUntil(ids, (seen) => seen !== before)
  // A kit that was held up is not to wait for that, too, at every step from now on.
  const lagMs = Math.min(Math.ceil(performance.now() - answeredAt), trial.run.branch.settleMs)
  return { state, lagMs }
}
