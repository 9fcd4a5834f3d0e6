/** Wrong rules for workflows, which prove that the audit finds errors. */
import {
  decodeTransaction,
  type FoldedTransaction,
  isSeal,
  PLAN,
  RULES,
  type Rules,
  type Run,
  type StoredTransaction,
  type Transaction,
  type TransactionEvent,
  type WorkflowTransaction,
} from '@counterstep/core'

import { mayRunInline } from '@counterstep/workflow'
import type { HandlerRules } from './plan-handler.ts'

export interface WorkflowMutant {
  readonly rules: Rules
  readonly onReread?: (run: Run, row: StoredTransaction | undefined) => Run
  /** Changes the workflow of which a plan call is built. */
  readonly toPlanCall?: (workflow: WorkflowTransaction) => WorkflowTransaction
  readonly handler?: Partial<HandlerRules>
}

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>
type Change = (
  before: WorkflowTransaction,
  event: TransactionEvent,
  folded: { readonly next: WorkflowTransaction; readonly durability: FoldedTransaction['durability'] },
  now: number,
) => FoldedTransaction

function changeFold(change: Change): WorkflowMutant {
  return {
    rules: {
      ...RULES,
      fold(transaction, event, now) {
        const folded = RULES.fold(transaction, event, now)
        const { next, durability } = folded
        return transaction.kind === 'workflow' && next.kind === 'workflow'
          ? change(transaction, event, { next, durability }, now)
          : folded
      },
    },
  }
}

function hasNewSteps(before: WorkflowTransaction, next: WorkflowTransaction): boolean {
  return next.steps.length > before.steps.length
}

function isNewFailure(before: WorkflowTransaction, next: WorkflowTransaction, branch: number): boolean {
  return (
    before.branches[branch]?.action.state !== 'failed' && next.branches[branch]?.action.state === 'failed'
  )
}

function hasNewFailure(before: WorkflowTransaction, next: WorkflowTransaction): boolean {
  return next.branches.some((_, branch) => isNewFailure(before, next, branch))
}

/** Calls the steps of a plan before they are durable. */
const planUnsaved = changeFold((before, event, { next, durability }) =>
  event.type === 'answered' && hasNewSteps(before, next) && next.status === 'submitted'
    ? { next, durability: 'lazy' }
    : { next, durability },
)

/** Takes the answer of a plan call that comes after the turn, and calls its steps. */
const latePlanCounts: WorkflowMutant = {
  rules: {
    fold(transaction, event, now) {
      const isLate =
        transaction.kind === 'workflow' &&
        transaction.status === 'aborting' &&
        event.type === 'answered' &&
        event.call.branch === PLAN &&
        event.plan?.type === 'read' &&
        transaction.plan.until === undefined
      if (!isLate || event.plan?.type !== 'read') return RULES.fold(transaction, event, now)
      const { next: steps } = event.plan.plan
      const branches = steps.map(() => ({ action: IDLE, compensate: IDLE }))
      const next = {
        ...transaction,
        steps: [...transaction.steps, ...steps],
        branches: [...transaction.branches, ...branches],
        plan: { ...transaction.plan, until: 'any' as const },
      }
      return { next, durability: 'strong' }
    },
    effects(transaction, now) {
      const effects = RULES.effects(transaction, now)
      if (transaction.kind !== 'workflow' || transaction.status !== 'aborting') return effects
      const late = transaction.branches.flatMap(({ action }, branch) =>
        action.state === 'idle' &&
        action.attempts === 0 &&
        transaction.steps[branch]?.rank === transaction.plan.number
          ? [{ type: 'call', call: { branch, op: 'action' } } as const]
          : [],
      )
      return [...effects, ...late]
    },
  },
}

const IDLE = { state: 'idle', attempts: 0, failures: 0, waits: 0 } as const

/** Leaves a failed step as it is: an earlier copy of its call may still take effect. */
const failureUnsealed = changeFold((before, event, { next, durability }) => {
  if (event.type !== 'answered' || next.status !== 'submitted') return { next, durability }
  const branches = next.branches.map((progress, branch) =>
    isNewFailure(before, next, branch)
      ? { ...progress, compensate: { ...IDLE, state: 'succeeded' as const } }
      : progress,
  )
  return { next: { ...next, branches }, durability }
})

/** Ends when the code has returned, though a failed step is not undone. */
const finishBeforeSeals = changeFold((_before, event, { next, durability }, now) => {
  const isReturned = event.type === 'answered' && next.status === 'submitted' && next.plan.until === 'end'
  if (!isReturned) return { next, durability }
  return {
    next: { ...(next as Submitted), status: 'succeeded', finishedAt: now, updatedAt: now },
    durability: 'strong',
  }
})

/** Goes on from a failure, and undoes it, before it is durable. */
const failureGoesOn = changeFold((before, event, { next, durability }) =>
  event.type === 'answered' && next.status === 'submitted' && hasNewFailure(before, next)
    ? { next, durability: 'lazy' }
    : { next, durability },
)

/** Undoes the steps that were planned first, first. */
const rankForward: WorkflowMutant = {
  rules: {
    ...RULES,
    effects(transaction, now) {
      if (transaction.kind !== 'workflow' || transaction.status !== 'aborting')
        return RULES.effects(transaction, now)
      const steps = transaction.steps.map((step) => ({ ...step, rank: 1_000 - step.rank }))
      return RULES.effects({ ...transaction, steps }, now)
    },
  },
}

/** After a conflict it takes the row's steps, and keeps its own plan, which has named more. */
const conflictDropsSteps: WorkflowMutant = {
  rules: RULES,
  onReread(run, row) {
    const { transaction } = run
    const stored = row === undefined ? undefined : decodeTransaction(row)
    if (transaction.kind !== 'workflow' || stored?.kind !== 'workflow') return run
    const count = stored.steps.length
    if (transaction.steps.length <= count) return run
    const order = transaction.order.filter((position) => position < count)
    const seen = Math.min(transaction.plan.seen, order.length)
    const next: Transaction = {
      ...transaction,
      steps: transaction.steps.slice(0, count),
      branches: transaction.branches.slice(0, count),
      order,
      seenAt: transaction.seenAt.slice(0, seen),
      plan: { ...transaction.plan, seen },
    }
    return { ...run, transaction: next }
  },
}

/** Writes the journal in the order of planning in place of that of ending. */
const raceReordered = changeFold((before, event, { next, durability }) =>
  event.type === 'answered' && next.order !== before.order
    ? { next: { ...next, order: [...next.order].sort((a, b) => a - b) }, durability }
    : { next, durability },
)

/** Takes a 409 for the failure of the code. */
const conflictIsFailure: WorkflowMutant = {
  rules: {
    ...RULES,
    fold(transaction, event, now) {
      const is409 =
        event.type === 'answered' && event.call.branch === PLAN && event.answer.result === 'failure'
      if (!is409 || transaction.kind !== 'workflow') return RULES.fold(transaction, event, now)
      const { next, durability } = RULES.fold(transaction, { type: 'abort-asked' }, now)
      if (next.kind !== 'workflow' || next.status !== 'aborting') return { next, durability }
      return { next: { ...next, abort: { ...next.abort, cause: 'workflow-failed' } }, durability }
    },
  },
}

/** Calls a pivot without the mark of no return. */
const pivotUnmarked = changeFold((_before, _event, { next, durability }) => {
  if (next.kind !== 'workflow' || next.status !== 'submitted' || next.noReturnAt === undefined)
    return { next, durability }
  const { noReturnAt: _, ...rest } = next
  return { next: rest, durability }
})

/** Makes a plan call before its grant is durable. */
const grantUnsaved = changeFold((before, _event, { next, durability }) =>
  next.status === 'submitted' && before.granted !== next.granted
    ? { next, durability: 'lazy' }
    : { next, durability },
)

/** Forgets at the turn that slots were granted. */
const grantForgotten = changeFold((before, _event, { next, durability }) => {
  if (before.status !== 'submitted' || next.status !== 'aborting') return { next, durability }
  const branches = next.abort.branches.filter((position) => !isSeal(next.steps[position]))
  return { next: { ...next, abort: { ...next.abort, branches } }, durability }
})

/** Seals the lowest slot first. */
const sealsUpward: WorkflowMutant = {
  rules: {
    ...RULES,
    effects(transaction, now) {
      if (transaction.kind !== 'workflow' || transaction.status !== 'aborting')
        return RULES.effects(transaction, now)
      const steps = transaction.steps.map((step) =>
        isSeal(step) ? { ...step, rank: 1_000_000 - step.rank } : step,
      )
      return RULES.effects({ ...transaction, steps }, now)
    },
  },
}

/** Seals slots while the plan call that may run steps under them is under way. */
const sealBeforePlanEnded: WorkflowMutant = {
  rules: {
    ...RULES,
    effects(transaction, now) {
      if (transaction.kind !== 'workflow' || transaction.status !== 'aborting')
        return RULES.effects(transaction, now)
      return RULES.effects({ ...transaction, plan: { ...transaction.plan, call: IDLE } }, now)
    },
  },
}

/** Shows each attempt of a plan call all that has ended by then. */
const prefixGrows: WorkflowMutant = {
  rules: RULES,
  toPlanCall: (workflow) => {
    const seen = workflow.order.length
    const seenAt = workflow.order.map((_, index) => workflow.seenAt[index] ?? workflow.plan.at)
    return { ...workflow, seenAt, plan: { ...workflow.plan, seen } }
  },
}

/** Seals no slot behind a step that has failed within its plan call. */
const restUnsealed = changeFold((before, event, { next, durability }) => {
  if (event.type !== 'answered' || next.status !== 'submitted') return { next, durability }
  const isNew = (position: number) => position >= before.steps.length && isSeal(next.steps[position])
  if (!next.steps.some((_, position) => isNew(position))) return { next, durability }
  const branches = next.branches.map((progress, position) =>
    isNew(position) ? { ...progress, compensate: { ...IDLE, state: 'succeeded' as const } } : progress,
  )
  return { next: { ...next, branches }, durability }
})

/** A handler that runs a step behind a result of the code, which another attempt would not get again. */
const runThenStep: WorkflowMutant = {
  rules: RULES,
  handler: {
    mayRunInline: (is, slot, spent, call) => mayRunInline(is, slot, { ...spent, hasRun: false }, call),
  },
}

/** A handler that goes on behind a failure, which another attempt might not see. */
const inlineFailureGoesOn: WorkflowMutant = {
  rules: RULES,
  handler: {
    mayRunInline: (is, slot, spent, call) => mayRunInline(is, slot, { ...spent, hasFailed: false }, call),
  },
}

/** A handler that takes the row of another step for its own. */
const slotNameUnchecked: WorkflowMutant = { rules: RULES, handler: { checksName: false } }

export const WORKFLOW_MUTANTS: Readonly<Record<string, WorkflowMutant>> = {
  'plan-unsaved': planUnsaved,
  'late-plan-counts': latePlanCounts,
  'failure-unsealed': failureUnsealed,
  'finish-before-seals': finishBeforeSeals,
  'failure-goes-on': failureGoesOn,
  'rank-forward': rankForward,
  'conflict-drops-steps': conflictDropsSteps,
  'race-reordered': raceReordered,
  'conflict-is-failure': conflictIsFailure,
  'workflow-pivot-unmarked': pivotUnmarked,
  'grant-unsaved': grantUnsaved,
  'grant-forgotten': grantForgotten,
  'seals-upward': sealsUpward,
  'seal-before-plan-ended': sealBeforePlanEnded,
  'prefix-grows': prefixGrows,
  'rest-unsealed': restUnsealed,
  'run-then-step': runThenStep,
  'inline-failure-goes-on': inlineFailureGoesOn,
  'slot-name-unchecked': slotNameUnchecked,
}

export function findMutant(name: string | undefined): WorkflowMutant {
  if (name === undefined) return { rules: RULES }
  const mutant = WORKFLOW_MUTANTS[name]
  if (mutant === undefined)
    throw new RangeError(`no mutant ${name}; there are ${Object.keys(WORKFLOW_MUTANTS).join(', ')}`)
  return mutant
}
