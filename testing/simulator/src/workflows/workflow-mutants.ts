/** Wrong rules for workflows, which prove that the audit finds errors. */
import {
  decodeTransaction,
  EARLIER,
  type FoldedTransaction,
  isFinal,
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

import type { BranchId } from '@counterstep/protocol'
import { mayRunInline } from '@counterstep/workflow'
import type { HandlerRules } from './plan-handler.ts'

export interface WorkflowMutant {
  readonly rules: Rules
  /** Changes the merged run. `before` is the run as it was. */
  readonly onReread?: (run: Run, row: StoredTransaction | undefined, before: Run) => Run
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

/** Goes on with null in place of an answer that was too large to be kept. */
const lostAnswerGoesOn = changeFold((_before, event, { next, durability }) => {
  if (event.type !== 'answered') return { next, durability }
  const branches = next.branches.map((progress) => {
    const { error, ...action } = progress.action
    return error === 'journal-full' ? { ...progress, action } : progress
  })
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

function hasBegun(before: WorkflowTransaction, next: WorkflowTransaction): boolean {
  return before.generation?.number !== next.generation?.number
}

/** Gives the next generation the slots of the first one again. */
const slotsRestart = changeFold((before, _event, { next, durability }) => {
  if (!hasBegun(before, next) || next.generation === undefined) return { next, durability }
  const { grants } = next.definition
  const granted = grants === undefined ? {} : { granted: grants }
  return { next: { ...next, ...granted, generation: { ...next.generation, slots: 0 } }, durability }
})

/** Gives the calls of each generation the ids that those of the first one had. */
const idsRestart = changeFold((before, event, { next, durability }) => {
  if (event.type !== 'answered' || !hasNewSteps(before, next)) return { next, durability }
  const steps = next.steps.map((step) =>
    step.local === undefined ? { ...step, branch: { ...step.branch, id: step.id as BranchId } } : step,
  )
  return { next: { ...next, steps }, durability }
})

/** Begins the next generation though steps that have failed are not undone. */
const continueForgetsSeals = changeFold((_before, _event, { next, durability }, now) => {
  if (next.status !== 'submitted' || next.plan.continueWith === undefined) return { next, durability }
  const compensate = { ...IDLE, state: 'succeeded' as const }
  const branches = next.branches.map((progress) => ({ ...progress, compensate }))
  return RULES.fold({ ...next, branches }, { type: 'time' }, now)
})

/** Asks for the first plan of a generation before its begin is durable. */
const continueUnsaved = changeFold((before, _event, { next, durability }) =>
  hasBegun(before, next) ? { next, durability: 'lazy' } : { next, durability },
)

/** Drops the signals that a wait has taken while the code went on without having seen them. */
const continueDropsSignals = changeFold((before, _event, { next, durability }) => {
  if (!hasBegun(before, next) || next.signals === undefined) return { next, durability }
  const taken = new Set(before.signals?.filter(({ takenBy }) => takenBy !== undefined).map(({ id }) => id))
  const signals = next.signals.map((signal) =>
    taken.has(signal.id) ? { ...signal, takenBy: EARLIER } : signal,
  )
  return { next: { ...next, signals }, durability }
})

/** Counts the deadline of each generation from the accept. */
const deadlineOfFirst: WorkflowMutant = {
  rules: {
    ...RULES,
    fold(transaction, event, now) {
      if (transaction.kind !== 'workflow' || transaction.generation === undefined)
        return RULES.fold(transaction, event, now)
      const { generation, createdAt } = transaction
      const early = { ...transaction, generation: { ...generation, at: createdAt } }
      const { next, durability } = RULES.fold(early, event, now)
      return next.kind === 'workflow' && !hasBegun(transaction, next)
        ? { next: { ...next, generation }, durability }
        : { next, durability }
    },
  },
}

/** After a conflict it keeps a generation of its own that the row does not have. */
const conflictKeepsGeneration: WorkflowMutant = {
  rules: RULES,
  onReread(run, _row, before) {
    const { transaction } = run
    const isOther =
      transaction.kind === 'workflow' &&
      before.transaction.kind === 'workflow' &&
      hasBegun(transaction, before.transaction)
    return isOther && !isFinal(transaction) ? { ...run, transaction: before.transaction } : run
  },
}

/** A handler that does not tell which signals its code had not seen when it went on. */
const unseenUntold: WorkflowMutant = { rules: RULES, handler: { tellsSeen: false } }

/** A handler whose steps with calls of their own take their slots before those that run within the call. */
const slotsAsMet: WorkflowMutant = { rules: RULES, handler: { slots: 'as-met' } }

/** A handler that gives slots to steps with calls of their own though another attempt may still run steps under them. */
const slotsAlthoughCut: WorkflowMutant = { rules: RULES, handler: { slots: 'although-cut' } }

/** Shows the plan behind one that was cut short what has ended meanwhile. */
const cutPlanSeesMore = changeFold((before, _event, { next, durability }) => {
  if (next.status !== 'submitted' || next.plan.number === before.plan.number) return { next, durability }
  const seenAt = next.order.map((_, index) => next.seenAt[index] ?? next.plan.at)
  return { next: { ...next, seenAt, plan: { ...next.plan, seen: next.order.length } }, durability }
})

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
  'lost-answer-goes-on': lostAnswerGoesOn,
  'run-then-step': runThenStep,
  'inline-failure-goes-on': inlineFailureGoesOn,
  'slot-name-unchecked': slotNameUnchecked,
  'slots-restart': slotsRestart,
  'ids-restart': idsRestart,
  'continue-forgets-seals': continueForgetsSeals,
  'continue-unsaved': continueUnsaved,
  'continue-drops-signals': continueDropsSignals,
  'unseen-untold': unseenUntold,
  'deadline-of-first': deadlineOfFirst,
  'conflict-keeps-generation': conflictKeepsGeneration,
  'slots-as-met': slotsAsMet,
  'slots-although-cut': slotsAlthoughCut,
  'cut-plan-sees-more': cutPlanSeesMore,
}

export function findMutant(name: string | undefined): WorkflowMutant {
  if (name === undefined) return { rules: RULES }
  const mutant = WORKFLOW_MUTANTS[name]
  if (mutant === undefined)
    throw new RangeError(`no mutant ${name}; there are ${Object.keys(WORKFLOW_MUTANTS).join(', ')}`)
  return mutant
}
