/** Opens the plans of a workflow, and carries out what they were answered. */
import { JOURNAL_BYTES_MAX, type PlanFailure, STEPS_MAX } from '@counterstep/protocol'
import {
  IDLE,
  type OpProgress,
  type PlanInHand,
  type SagaBranchProgress,
  UNTOUCHED,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { countJournalBytes, hasEnded, withEnds } from './workflow-steps.ts'

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>

/** The answer of a plan call, as it was read. `bad`: it is no plan, so it counts as unknown. */
export type ReadPlan =
  | { readonly type: 'read'; readonly plan: Plan }
  | { readonly type: 'bad'; readonly reason: string }

export interface Plan {
  readonly number: number
  readonly version: number
  /** The results of the code itself, with the JSON text of each. */
  readonly ran: readonly { readonly step: WorkflowStep; readonly value: string | undefined }[]
  readonly next: readonly WorkflowStep[]
  readonly outcome: PlanEnd | { readonly type: 'wait'; readonly until: 'now' | 'any' | 'all' }
}

export type PlanEnd =
  | { readonly type: 'done'; readonly result: string }
  | { readonly type: 'failed'; readonly failure: PlanFailure }
  | { readonly type: 'refused'; readonly failure: PlanFailure }

/** Tells whether the next plan may be opened: the last one was accepted, and what it waits for has come. */
export function mayOpenPlan({ branches, order, plan }: WorkflowTransaction): boolean {
  switch (plan.until) {
    case 'now':
      return true
    case 'any':
      return order.length > plan.seen
    case 'all':
      return (
        branches.every(({ action }) => hasEnded(action)) ||
        order.slice(plan.seen).some((position) => branches[position]?.action.state === 'failed')
      )
    default:
      return false
  }
}

/**
 * Opens the next plan. Its call has no effect, so this is a lazy change. If the process dies before it is saved, the plan is
 * opened anew, with what is known then.
 */
export function openPlan(workflow: Submitted, now: number): Submitted {
  const { plan, order } = workflow
  const next: PlanInHand = { number: plan.number + 1, seen: order.length, at: now, call: IDLE }
  const seenAt = [...workflow.seenAt, ...order.slice(workflow.seenAt.length).map(() => now)]
  return { ...workflow, plan: next, seenAt, updatedAt: now }
}

/** Says why a plan that could be read cannot be carried out. Returns undefined if it can. */
export function findPlanFault(workflow: Submitted, { ran, next, outcome, number }: Plan): string | undefined {
  const { steps, branches, order, plan } = workflow
  if (number !== plan.number) return 'it answers another plan'
  const added = [...ran.map(({ step }) => step), ...next]
  if (steps.length + added.length > STEPS_MAX) return `there are over ${STEPS_MAX} steps`
  const hasCallPending = steps.some(
    ({ branch }, position) => branch.wait === undefined && !hasEnded(branches[position]?.action),
  )
  if (outcome.type === 'done' && hasCallPending) return 'it is done while a step is pending'
  if (outcome.type !== 'wait') return outcome.type === 'failed' ? refuseFailure(workflow) : undefined
  if (outcome.until === 'now' && added.length === 0) return 'it adds nothing and asks again'
  const seen = new Set(order.slice(0, plan.seen))
  const hasPending = next.length > 0 || steps.some((_, position) => !seen.has(position))
  if (outcome.until !== 'now' && !hasPending) return 'it waits for nothing'
  return findPivotFault(workflow, next)
}

/** After the point of no return nothing is undone, so the code cannot fail any more. */
function refuseFailure({ noReturnAt }: Submitted): string | undefined {
  return noReturnAt === undefined ? undefined : 'it failed after the point of no return'
}

/** A pivot stands alone beside timers. Behind it there is nothing that would have to be undone. */
function findPivotFault(
  { steps, branches, noReturnAt }: Submitted,
  next: readonly WorkflowStep[],
): string | undefined {
  const called = next.filter(({ branch }) => branch.wait?.type !== 'ms' && branch.wait?.type !== 'until')
  const hasPivot = called.some(({ branch }) => branch.role === 'pivot')
  if (noReturnAt === undefined) {
    if (called.some(({ branch }) => branch.role === 'retriable')) return 'a retriable comes before the pivot'
    if (!hasPivot) return undefined
    const isPending = steps.some(
      ({ branch }, position) =>
        branch.wait?.type !== 'ms' && branch.wait?.type !== 'until' && !hasEnded(branches[position]?.action),
    )
    return called.length > 1 || isPending ? 'a pivot stands beside other steps' : undefined
  }
  const hasPivotPending = steps.some(
    ({ branch }, position) => branch.role === 'pivot' && !hasEnded(branches[position]?.action),
  )
  if (hasPivotPending) return called.length > 0 ? 'a step stands beside the pivot' : undefined
  const isSure = called.every(
    ({ branch: { role, wait } }) =>
      role === 'retriable' || (wait?.type === 'signal' && wait.onTimeout === 'continue'),
  )
  return isSure ? undefined : 'a step after the pivot could have to be undone'
}

/** Says how many bytes are left for the journal. */
export function countBytesLeft(workflow: WorkflowTransaction): number {
  return Math.max(0, JOURNAL_BYTES_MAX - countJournalBytes(workflow))
}

/** Tells whether the journal has no room for the plan. */
export function isJournalFull(workflow: Submitted, { ran, next }: Plan): boolean {
  const steps = [...ran.map(({ step }) => step), ...next]
  const branches = ran.map(({ value }) => toRan(value))
  return countJournalBytes({ steps, branches }) > countBytesLeft(workflow)
}

/**
 * Takes over an accepted plan. What the code itself has run comes right behind what this plan call had seen, before whatever
 * has ended meanwhile: a replay meets it in the order in which the code did.
 */
export function acceptPlan(workflow: Submitted, call: OpProgress, plan: Plan, now: number): Submitted {
  const { steps, branches, order, plan: before, version = plan.version } = workflow
  const first = steps.length
  const ranPositions = plan.ran.map((_, index) => first + index)
  const seen = before.seen + ranPositions.length
  const hasPivot = plan.next.some(({ branch }) => branch.role === 'pivot')
  const next: Submitted = {
    ...workflow,
    version,
    steps:
      plan.ran.length + plan.next.length === 0
        ? steps
        : [...steps, ...plan.ran.map(({ step }) => step), ...plan.next],
    branches: [...branches, ...plan.ran.map(({ value }) => toRan(value)), ...plan.next.map(() => UNTOUCHED)],
    order: [...order.slice(0, before.seen), ...ranPositions, ...order.slice(before.seen)],
    plan: { ...before, seen, call, until: plan.outcome.type === 'wait' ? plan.outcome.until : 'end' },
    seenAt: [...workflow.seenAt, ...ranPositions.map(() => before.at)],
    updatedAt: now,
    ...(plan.outcome.type === 'done' ? { result: plan.outcome.result } : {}),
    // It is durable with the plan, and so before the pivot is called.
    ...(hasPivot ? { noReturnAt: now } : {}),
  }
  return withEnds(next)
}

function toRan(value: string | undefined): SagaBranchProgress {
  return { ...UNTOUCHED, action: { ...IDLE, state: 'succeeded', values: [value ?? null] } }
}
