/**
 * The steps of a workflow. A step is a branch that code has planned, so a workflow is seen as a saga wherever the rules are
 * the same: its requests, its values and its waits. In that saga no branch comes after another one.
 */
import { JOURNAL_BYTES_MAX } from '@counterstep/protocol'
import type { SagaDefinition, WorkflowDefinition } from '../definition.ts'
import {
  findAcceptedAt,
  listStepBranches,
  type OpProgress,
  type SagaTransaction,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { computeOnce } from '../values/compute-once.ts'
import { countBytes } from '../values/count-bytes.ts'
import { countKeptBytes, JOURNAL_FULL } from '../values/keep-values.ts'

const listKept = computeOnce((steps: readonly WorkflowStep[]) => steps.map(({ kept }) => kept))

/** Shows a workflow as a saga with the steps that have been planned so far. A saga is shown as it is. */
export function toSaga(workflow: WorkflowTransaction | SagaTransaction): SagaTransaction {
  if (workflow.kind === 'saga') return workflow
  const {
    kind: _,
    definition: own,
    generation,
    steps,
    plan: __,
    order: ___,
    seenAt: ______,
    version: ____,
    result: _____,
    granted: _______,
    ...rest
  } = workflow
  const { retry, timeoutMs, checkpointMs, deadlineMs, delayMs } = own
  const definition: SagaDefinition = {
    kind: 'saga',
    branches: listStepBranches(steps),
    values: {
      kept: listKept(steps),
      bytesMax: JOURNAL_BYTES_MAX - countInputBytes(generation ?? own) - countStepBytes(steps),
    },
    ...{ retry, timeoutMs, checkpointMs },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    // Only the first generation waits for its start. The times of a later one count from its begin.
    ...(delayMs === undefined || generation !== undefined ? {} : { delayMs }),
  }
  return { ...rest, createdAt: findAcceptedAt(workflow), kind: 'saga', definition } as SagaTransaction
}

type Unfinished = Extract<WorkflowTransaction, { readonly status: 'submitted' | 'aborting' }>

/** Takes over what the rules of the saga have changed. */
export function fromSaga<W extends WorkflowTransaction>(workflow: W, saga: SagaTransaction): W {
  const { branches, signals, updatedAt } = saga
  return withEnds({ ...workflow, branches, updatedAt, ...(signals === undefined ? {} : { signals }) })
}

/**
 * Brings the order of the journal up to date: a step that has ended stands behind those that ended before it, and a wait that
 * another node has opened again stands in it no more.
 */
export function withEnds<W extends WorkflowTransaction>(workflow: W): W {
  const { steps, branches, order } = workflow
  const isEnded = (position: number) => hasEnded(branches[position]?.action) && !isSeal(steps[position])
  const known = new Set(order)
  const ended = [...branches.keys()].filter((position) => isEnded(position) && !known.has(position))
  if (ended.length === 0 && order.every(isEnded)) return workflow
  return { ...workflow, order: [...order.filter(isEnded), ...ended] }
}

/**
 * Lists the open waits for signals that may take one now: the newest first, and those of one plan as they stand. Where a newer wait of
 * the name has not opened yet, that takes the signal then: the row may lack its opening, and another node has only the row.
 */
export function listTakers({
  steps,
  branches,
}: Pick<WorkflowTransaction, 'steps' | 'branches'>): readonly number[] {
  const stateOf = (position: number) => branches[position]?.action.state
  const waits = [...steps.entries()].filter(([, { is }]) => is === 'signal')
  const idle = waits.filter(([position]) => stateOf(position) === 'idle')
  // Steps stand in the order of their ranks, so the newest one counts.
  const newestIdle = new Map(idle.map(([, { name, rank }]) => [name, rank]))
  return waits
    .filter(
      ([position, { name, rank }]) => stateOf(position) === 'open' && rank >= (newestIdle.get(name) ?? 0),
    )
    .sort(([one, { rank }], [other, { rank: otherRank }]) => otherRank - rank || one - other)
    .map(([position]) => position)
}

/** Finds the open wait that takes a signal of this name. The code may have turned from an older one when that lost a race. */
export function findTaker(workflow: WorkflowTransaction, name: string): number | undefined {
  return listTakers(workflow).find((position) => workflow.steps[position]?.name === name)
}

export function hasEnded(action: Pick<Partial<OpProgress>, 'state'> | undefined): boolean {
  return action?.state === 'succeeded' || action?.state === 'failed'
}

/** Tells whether the step is a slot that may have run. The code has not named it, so it stands in no journal. */
export function isSeal(step: WorkflowStep | undefined): boolean {
  return step?.local?.granted === 'may-have-run'
}

/**
 * Tells whether the compensation of a step has to be called if its action may have run. A step that has failed may have an
 * earlier copy of its call that still succeeds, so the barrier has to hear of it even if it has nothing to undo.
 */
export function needsUndo({ steps, branches }: WorkflowTransaction, position: number): boolean {
  const step = steps[position]
  if (step?.branch.compensation === undefined) return false
  return step.local === undefined || step.local.hasUndo || branches[position]?.action.state === 'failed'
}

export function isUndone(workflow: WorkflowTransaction, position: number): boolean {
  if (workflow.branches[position]?.action.state === 'calling') return false
  return isCompensated(workflow, position) || !needsUndo(workflow, position)
}

export function isCompensated({ branches }: WorkflowTransaction, position: number): boolean {
  return branches[position]?.compensate.state === 'succeeded'
}

/** Finds a step that has ended with an answer which the journal could not take. What the code would do with it is not known. */
export function findLostAnswer({ steps, branches }: WorkflowTransaction): WorkflowStep | undefined {
  return steps[branches.findIndex(({ action }) => hasEnded(action) && action.error === JOURNAL_FULL)]
}

/** Tells whether the code has returned, and every step that failed has been undone. */
export function isDone(workflow: WorkflowTransaction): boolean {
  return (
    workflow.plan.until === 'end' &&
    workflow.branches.every(
      ({ action }, position) => action.state !== 'failed' || isUndone(workflow, position),
    )
  )
}

/** Returns the number of the first slot behind all that steps have, also those of earlier generations. */
export function findFreeSlot({
  steps,
  generation,
}: Pick<WorkflowTransaction, 'steps' | 'generation'>): number {
  return Math.max(findLastSlot(steps), generation?.slots ?? 0) + 1
}

const findLastSlot = computeOnce((steps: readonly WorkflowStep[]) =>
  steps.reduce((last, step) => (step.local === undefined ? last : Math.max(last, readSlot(step))), 0),
)

export function readSlot({ branch }: WorkflowStep): number {
  return Number(branch.id.slice(1))
}

const countStepBytes = computeOnce((steps: readonly WorkflowStep[]) =>
  steps.reduce((sum, step) => sum + countOneStep(step), 0),
)
const countOneStep = computeOnce((step: WorkflowStep) => countBytes(JSON.stringify(step)))

const countInputBytes = computeOnce(({ input }: Pick<WorkflowDefinition, 'input'>) => countBytes(input))

/** Counts the bytes of the steps with their requests, and of the values that were kept. */
export function countEntryBytes({
  steps,
  branches,
}: Pick<WorkflowTransaction, 'steps' | 'branches'>): number {
  return countStepBytes(steps) + countKeptBytes(branches)
}

/** Counts the bytes of the journal. They are more than those of a plan call, which has the input and the entries in it. */
export function countJournalBytes(
  workflow: Pick<WorkflowTransaction, 'definition' | 'generation' | 'steps' | 'branches'>,
): number {
  return countInputBytes(workflow.generation ?? workflow.definition) + countEntryBytes(workflow)
}

export type { Unfinished as UnfinishedWorkflow }
