/**
 * The slots of a workflow. A plan call may run local steps under the slots that it was granted, so each of these may have run
 * as soon as the call was sent, whatever its answer says. A slot of which no accepted plan has told is sealed: its compensation
 * undoes what the barrier's row has, or blocks the step for good. Seals go from the highest slot down, because a call that still
 * runs goes up.
 */
import type { PlanCall } from '@counterstep/protocol'
import {
  IDLE,
  type SagaBranchProgress,
  UNTOUCHED,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { buildLocalBranch } from '../values/build-local-branch.ts'
import { findFreeSlot } from './workflow-steps.ts'

/** A slot of which no plan has told counts as failed: a copy of its call may still take effect. */
const UNTOLD: SagaBranchProgress = { ...UNTOUCHED, action: { ...IDLE, state: 'failed' } }

/** Returns the slots of the plan in hand: those behind all that are taken, up to the highest that was ever granted. */
export function findGrant(workflow: WorkflowTransaction): PlanCall['grant'] {
  const { granted = 0 } = workflow
  const from = findFreeSlot(workflow)
  return { from, count: Math.max(0, granted - from + 1) }
}

/**
 * Returns the highest slot that is granted once the next plan is opened. Behind a failure it grants none: another attempt of
 * the same call may have gone on, and the code mostly ends when it hears of the failure.
 */
export function grantMore(workflow: WorkflowTransaction): Pick<WorkflowTransaction, 'granted'> {
  const { definition, granted, plan } = workflow
  const { grants } = definition
  if (grants === undefined || granted === undefined) return {}
  if (plan.hasFailedWithin) return { granted }
  return { granted: Math.max(granted, findFreeSlot(workflow) - 1 + grants) }
}

/** Takes every granted slot of which no accepted plan has told as one that has failed, so that it is sealed. */
export function sealGranted<W extends WorkflowTransaction>(workflow: W): W {
  const { from, count } = findGrant(workflow)
  if (count === 0) return workflow
  const rank = findTopRank(workflow.steps) + 1
  const seals = Array.from({ length: count }, (_, index): WorkflowStep => {
    const slot = `~${from + index}`
    return {
      id: slot,
      is: 'step',
      branch: buildLocalBranch(workflow, slot),
      kept: [],
      rank: rank + index,
      local: { hasUndo: true, granted: 'may-have-run' },
    }
  })
  return {
    ...workflow,
    steps: [...workflow.steps, ...seals],
    branches: [...workflow.branches, ...seals.map(() => UNTOLD)],
  }
}

/** The steps stand in the order of their ranks. */
export function findTopRank(steps: readonly WorkflowStep[]): number {
  return steps.at(-1)?.rank ?? 0
}
