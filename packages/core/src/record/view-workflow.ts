/** Shows what is a workflow's own: its code, the plan in hand, its result, and by which name the code knows a step. */
import {
  type BranchView,
  JOURNAL_BYTES_MAX,
  type JsonValue,
  type OpView,
  STEPS_MAX,
  type Status,
  type TransactionView,
} from '@counterstep/protocol'
import { countJournalBytes, isSeal } from '../rules/workflow-steps.ts'
import type { WorkflowTransaction } from '../transaction.ts'

export function viewWorkflow(
  workflow: WorkflowTransaction,
  durableStatus: Status,
  plan: OpView,
): Pick<TransactionView, 'workflow' | 'plan' | 'result'> {
  const { definition, steps, plan: inHand, generation, version, result } = workflow
  return {
    workflow: {
      name: definition.workflow,
      ...(version === undefined ? {} : { version }),
      generation: generation?.number ?? 1,
      ...(generation === undefined ? {} : { generationAt: generation.at }),
      plan: inHand.number,
      ...(inHand.until === undefined || inHand.until === 'end' ? {} : { waitsFor: inHand.until }),
      steps: steps.filter((step) => !isSeal(step)).length,
      stepsMax: STEPS_MAX,
      journalBytes: countJournalBytes(workflow),
      journalBytesMax: JOURNAL_BYTES_MAX,
    },
    plan,
    ...(durableStatus === 'succeeded' && result !== undefined
      ? { result: JSON.parse(result) as JsonValue }
      : {}),
  }
}

export function viewStep(
  { steps }: WorkflowTransaction,
  position: number,
): Pick<BranchView, 'is' | 'name' | 'stepId' | 'rank'> {
  const step = steps[position]
  if (step === undefined) return {}
  const { id, is, name, rank, branch } = step
  if (isSeal(step)) return { is, rank, name: `${id} (may have run)` }
  return { is, rank, ...(name === undefined ? {} : { name }), ...(branch.id === id ? {} : { stepId: id }) }
}
