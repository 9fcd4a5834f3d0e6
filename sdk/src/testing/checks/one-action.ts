import type { BranchCheckPlan } from '../branch-check.ts'
import type { CompleteBranch } from '../branch-under-test.ts'
import { mustHaveChanged, mustSucceed } from '../expectations.ts'
import { findChange, NOTHING } from '../state-change.ts'
import { RuleBroken, Undecided } from '../verdict.ts'

/** Learns the changes that everything else is compared with. */
export const oneActionAndItsCompensation: BranchCheckPlan = {
  name: 'one-action-and-its-compensation',
  needs: [],
  examine: async (trial, { branch, learned }) => {
    const ids = trial.newBranch()
    const start = await trial.readFirst(ids)
    if ((await trial.read(ids)) !== start) {
      throw new Undecided('read shows something else each time, though nothing was called in between')
    }
    await mustSucceed(trial, 'action', ids, 'ACTION_NOT_DONE')
    const done = await trial.readUntil(ids, (state) => state !== start)
    if (done === start) {
      throw new RuleBroken('ACTION_NOT_DONE', `the action was answered 200, and ${nothingWithin(branch)}`)
    }
    await mustSucceed(trial, 'compensation', ids, 'COMPENSATION_NOT_DONE')
    const undone = await trial.readUntil(ids, (state) => state !== done)
    if (undone === done) {
      const found = `the compensation was answered 200, and ${nothingWithin(branch)}`
      throw new RuleBroken('COMPENSATION_NOT_DONE', found)
    }
    learned.once = findChange(start, done)
    learned.undo = findChange(done, undone)
    learned.both = findChange(start, undone)
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
    // These ids differ only in case. In a column whose collation ignores case they would be one id.
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

function nothingWithin({ settleMs }: CompleteBranch): string {
  return `read showed what it had shown before for ${settleMs} ms (settleMs)`
}
