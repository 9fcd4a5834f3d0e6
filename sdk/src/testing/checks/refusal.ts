import type { BranchCheckPlan } from '../branch-check.ts'
import type { BranchIds } from '../branch-under-test.ts'
import { FAILURE, mustBeRepeated, mustHaveChanged, mustSucceed, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import type { Run, Trial, Unusual } from '../trial.ts'
import { RuleBroken, Undecided } from '../verdict.ts'

export const refusal: BranchCheckPlan = {
  name: 'refusal',
  needs: ['two-gids'],
  lacks: ({ refusedPayload }) => (refusedPayload === undefined ? 'no refusedPayload was given' : undefined),
  examine: async (trial, run) => {
    await mustRefuse(trial, run, { payload: run.branch.refusedPayload }, 'refusedPayload')
  },
}

/** The copy has a payload that the business allows, in place of a business that decides otherwise by then. */
export const keptRefusal: BranchCheckPlan = {
  name: 'kept-refusal',
  needs: ['refusal', 'action-after-compensation'],
  lacks: ({ isPivot, kind, refusedPayload }) => {
    if (isPivot !== true) return 'isPivot was not given'
    if (kind === 'tcc') return 'a try is always undone'
    return refusedPayload === undefined ? 'no refusedPayload was given' : undefined
  },
  examine: async (trial, run) => {
    const ids = trial.newBranch()
    const refused = { payload: run.branch.refusedPayload, hasNoUndo: true }
    await mustSayNo(trial, run, ids, refused, 'refusedPayload')
    const start = await trial.readFirst(ids)
    const { statusCode } = await trial.ask('action', ids, { hasNoUndo: true })
    const [code, what] = ['REFUSAL_NOT_KEPT', 'a copy of a refused action that nothing undoes'] as const
    await mustHaveChanged(trial, { start, ids, expected: [NOTHING] }, { code, what })
    if (statusCode !== FAILURE) throw new RuleBroken(code, `${what} was answered ${statusCode}`)
  },
}

export const drained: BranchCheckPlan = {
  name: 'drained',
  needs: ['duplicates'],
  lacks: ({ drain }) => (drain === undefined ? 'no drain was given' : undefined),
  examine: async (trial, run) => {
    const ids = trial.newBranch()
    const first = await mustSucceed(trial, 'action', ids, 'ACTION_NOT_DONE')
    trial.did('drain')
    await run.branch.drain?.()
    await mustBeRepeated(trial, { role: 'action', ids, first })
    // This also proves that a repeat would have been refused if the business had been asked.
    if (run.hasPassed('refusal'))
      await mustSayNo(trial, run, trial.newBranch(), {}, 'what is sent after drain')
    else await mustRefuse(trial, run, {}, 'what is sent after drain')
    await mustUndo(trial, run, ids)
  },
}

/** A compensation cannot fail. It may leave a debt, or a seat that is sold twice; that is the business's own matter. */
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

/**
 * Checks that an action is undone, however little the business allows now. The business must not refuse a
 * compensation.
 */
async function mustUndo(trial: Trial, { learned: { undo } }: Run, ids: BranchIds): Promise<void> {
  const start = await trial.readFirst(ids)
  await mustSucceed(trial, 'compensation', ids, 'COMPENSATION_NOT_DONE')
  const { text } = await trial.changeSince(start, ids, [undo.text])
  if (text !== NOTHING || !undo.isCountable) return
  const found = 'after drain the compensation of an action was answered 200, and nothing was done'
  throw new RuleBroken('COMPENSATION_NOT_DONE', found)
}

/**
 * Checks that a refused action leaves nothing behind: a repeat is refused again, and there is nothing to compensate.
 */
async function mustRefuse(trial: Trial, run: Run, unusual: Unusual, given: string): Promise<void> {
  const ids = trial.newBranch()
  await mustSayNo(trial, run, ids, unusual, given)
  await mustSayNo(trial, run, ids, unusual, given, 'BARRIER_APART_FROM_EFFECT')
  // If `compensation-first` has not passed, the compensation of the refused action would run for that reason.
  if (!run.hasPassed('compensation-first')) return
  const start = await trial.readFirst(ids)
  const { statusCode } = await trial.ask('compensation', ids, unusual)
  const what = 'the compensation of an action that was refused'
  await mustHaveChanged(
    trial,
    { start, ids, expected: [NOTHING] },
    { code: 'BARRIER_APART_FROM_EFFECT', what },
  )
  if (statusCode !== SUCCESS) {
    throw new RuleBroken('COMPENSATION_WITHOUT_ACTION', `${what} was answered ${statusCode}`)
  }
}

/**
 * `whenDoneAsNothing` is the rule that is broken by a 200 without an effect. It is a different rule for the second
 * call.
 */
async function mustSayNo(
  trial: Trial,
  { learned: { once } }: Run,
  ids: BranchIds,
  unusual: Unusual,
  given: string,
  whenDoneAsNothing: 'ERROR_SWALLOWED' | 'BARRIER_APART_FROM_EFFECT' = 'ERROR_SWALLOWED',
): Promise<void> {
  const start = await trial.readFirst(ids)
  const { statusCode } = await trial.ask('action', ids, unusual)
  const isSuccess = statusCode === SUCCESS
  const change = await trial.changeSince(start, ids, isSuccess ? [once.text] : [NOTHING])
  if (isSuccess && change.text === NOTHING) {
    const when =
      whenDoneAsNothing === 'ERROR_SWALLOWED'
        ? 'it was answered'
        : 'sent again after its 409, it was answered'
    throw new RuleBroken(
      whenDoneAsNothing,
      `the business refuses ${given}; ${when} 200, and nothing was done`,
    )
  }
  if (isSuccess) throw new Undecided(`the business should refuse ${given}, and it took it: ${change.text}`)
  if (change.text !== NOTHING) {
    throw new RuleBroken(
      'FAILURE_LEFT_EFFECT',
      `${given} was answered ${statusCode}, and changed ${change.text}`,
    )
  }
  if (statusCode !== FAILURE) throw new RuleBroken('FAILURE_NOT_409', `${given} was answered ${statusCode}`)
}
