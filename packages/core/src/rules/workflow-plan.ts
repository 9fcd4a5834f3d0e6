/** Opens the plans of a workflow, and carries out what they were answered. */
import { GENERATIONS_MAX, JOURNAL_BYTES_MAX, type PlanFailure, STEPS_MAX } from '@counterstep/protocol'
import {
  IDLE,
  type OpProgress,
  type PlanInHand,
  type SagaBranchProgress,
  UNTOUCHED,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { findGrant, grantMore, sealGranted } from './workflow-slots.ts'
import {
  countEntryBytes,
  countJournalBytes,
  findLostAnswer,
  hasEnded,
  isSeal,
  withEnds,
} from './workflow-steps.ts'

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>

/** The answer of a plan call, as it was read. `bad`: it is no plan, so it counts as unknown. */
export type ReadPlan =
  | { readonly type: 'read'; readonly plan: Plan }
  | { readonly type: 'bad'; readonly reason: string }

export interface Plan {
  readonly number: number
  readonly version: number
  /** These have run within the plan call: results of the code itself, and local steps under granted slots. */
  readonly ran: readonly RanStep[]
  readonly next: readonly WorkflowStep[]
  readonly outcome: PlanEnd | { readonly type: 'wait'; readonly until: 'now' | 'any' | 'all' }
}

/** It has the JSON text of its value, or its failure. */
export interface RanStep {
  readonly step: WorkflowStep
  readonly value: string | undefined
  readonly failure?: PlanFailure
}

export type PlanEnd =
  | { readonly type: 'done'; readonly result: string }
  | { readonly type: 'failed'; readonly failure: PlanFailure }
  | { readonly type: 'refused'; readonly failure: PlanFailure }
  /** It has the input of the next generation, as JSON. `seen`: the function had not seen the entries of the journal behind so many. */
  | { readonly type: 'continue'; readonly input: string; readonly seen?: number }

/** Tells whether the next plan may be opened: the last one was accepted, what it waits for has come, and no answer is lost. */
export function mayOpenPlan(workflow: WorkflowTransaction): boolean {
  const { branches, order, plan } = workflow
  if (findLostAnswer(workflow) !== undefined) return false
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
 * Opens the next plan. If its call has a grant it may have an effect, so this has to be a strong change: whichever node makes
 * the call, makes the same one. Otherwise it is lazy. If the process dies before it is saved, the plan is opened anew, with what
 * is known then.
 *
 * Where the plan before asked for it at once, and has left slots of its grant, another attempt of its call may have gone further.
 * So the next call brings nothing that has ended since: with it the code might ask for another step under the same slot.
 */
export function openPlan(workflow: Submitted, now: number): Submitted {
  const { plan, order } = workflow
  const goesOn = plan.until === 'now' && findGrant(workflow).count > 0
  const seen = goesOn ? plan.seen : order.length
  const next: PlanInHand = { number: plan.number + 1, seen, at: now, call: IDLE }
  const seenAt = [...workflow.seenAt, ...order.slice(workflow.seenAt.length, seen).map(() => now)]
  return { ...workflow, ...grantMore(workflow), plan: next, seenAt, updatedAt: now }
}

/** Says why a plan that could be read cannot be carried out. Returns undefined if it can. */
export function findPlanFault(workflow: Submitted, { ran, next, outcome, number }: Plan): string | undefined {
  const { steps, branches, order, plan } = workflow
  if (number !== plan.number) return 'it answers another plan'
  const added = [...ran.map(({ step }) => step), ...next]
  const known = steps.filter((step) => !isSeal(step))
  if (known.length + added.length > STEPS_MAX) return `there are over ${STEPS_MAX} steps`
  const ranFault = findRanFault(workflow, ran, outcome)
  if (ranFault !== undefined) return ranFault
  const hasCallPending = steps.some(
    ({ branch }, position) => branch.wait === undefined && !hasEnded(branches[position]?.action),
  )
  const isEnd = outcome.type === 'done' || outcome.type === 'continue'
  if (isEnd && hasCallPending) return 'it is done while a step is pending'
  if (outcome.type === 'continue') {
    const { seen = 0 } = outcome
    return seen > plan.seen ? 'it has seen more than there is' : refuseContinue(workflow, added)
  }
  if (outcome.type !== 'wait') return outcome.type === 'failed' ? refuseFailure(workflow) : undefined
  if (outcome.until === 'now' && added.length === 0) return 'it adds nothing and asks again'
  const seen = new Set(order.slice(0, plan.seen))
  const isPending = (step: WorkflowStep, position: number) => !seen.has(position) && !isSeal(step)
  const hasPending = next.length > 0 || steps.some(isPending)
  if (outcome.until !== 'now' && !hasPending) return 'it waits for nothing'
  return findPivotFault(workflow, next)
}

/**
 * Another attempt of the same call may end the step that failed with success, and may get another value of the code's own
 * result. So nothing may have run behind the one, and no step behind the other.
 */
function findRanFault(
  { noReturnAt }: Submitted,
  ran: Plan['ran'],
  outcome: Plan['outcome'],
): string | undefined {
  const failedAt = ran.findIndex(({ failure }) => failure !== undefined)
  if (failedAt >= 0 && failedAt < ran.length - 1) return 'something ran behind a failure'
  if (failedAt >= 0 && !(outcome.type === 'wait' && outcome.until === 'now'))
    return 'it does not ask again behind a failure'
  const firstRun = ran.findIndex(({ step }) => step.is === 'run')
  const lastStep = ran.findLastIndex(({ step }) => step.local !== undefined)
  if (firstRun >= 0 && lastStep > firstRun) return 'a step ran behind a result of the code itself'
  if (noReturnAt === undefined) return undefined
  const mayBeUndone = ran.some((each) => each.step.local?.hasUndo === true || isFailedStep(each))
  return mayBeUndone ? 'a step after the pivot could have to be undone' : undefined
}

/** After the point of no return nothing is undone, so the code cannot fail any more. */
function refuseFailure({ noReturnAt }: Submitted): string | undefined {
  return noReturnAt === undefined ? undefined : 'it failed after the point of no return'
}

/** Behind its pivot a workflow has nothing left that could be kept, and it would get a second pivot. */
function refuseContinue(
  { noReturnAt, generation, steps }: Submitted,
  added: readonly WorkflowStep[],
): string | undefined {
  // Such a function would begin one generation after the other without a pause.
  if (generation !== undefined && steps.length + added.length === 0) return 'its generation has done nothing'
  if (noReturnAt !== undefined) return 'it goes on as a new generation after the point of no return'
  return generation?.number === GENERATIONS_MAX ? `there are over ${GENERATIONS_MAX} generations` : undefined
}

/** A pivot stands alone beside waits that cannot fail. Behind it there is nothing that would have to be undone. */
function findPivotFault(
  { steps, branches, noReturnAt }: Submitted,
  next: readonly WorkflowStep[],
): string | undefined {
  const called = next.filter((step) => !isSureWait(step))
  const hasPivot = called.some(({ branch }) => branch.role === 'pivot')
  if (noReturnAt === undefined) {
    if (called.some(({ branch }) => branch.role === 'retriable')) return 'a retriable comes before the pivot'
    if (!hasPivot) return undefined
    const isPending = steps.some(
      (step, position) => !isSureWait(step) && !hasEnded(branches[position]?.action),
    )
    return called.length > 1 || isPending ? 'a pivot stands beside other steps' : undefined
  }
  const hasPivotPending = steps.some(
    ({ branch }, position) => branch.role === 'pivot' && !hasEnded(branches[position]?.action),
  )
  if (hasPivotPending) return called.length > 0 ? 'a step stands beside the pivot' : undefined
  const isSure = called.every(({ branch: { role } }) => role === 'retriable')
  return isSure ? undefined : 'a step after the pivot could have to be undone'
}

/** A wait for a time cannot fail, nor can one for a signal that goes on at its timeout. */
function isSureWait({ branch: { wait } }: WorkflowStep): boolean {
  return wait !== undefined && (wait.type !== 'signal' || wait.onTimeout === 'continue')
}

/** Says how many bytes are left for the journal, as far as this plan has seen it: all calls of a plan say the same. */
export function countBytesLeft(workflow: WorkflowTransaction): number {
  const { branches, order, plan } = workflow
  const seen = order.slice(0, plan.seen).flatMap((position) => branches[position] ?? [])
  return Math.max(0, JOURNAL_BYTES_MAX - countJournalBytes({ ...workflow, branches: seen }))
}

/** Tells whether the journal has no room for the plan. One that begins a new generation drops it. */
export function isJournalFull(workflow: Submitted, { ran, next, outcome }: Plan): boolean {
  if (outcome.type === 'continue') return false
  const steps = [...ran.map(({ step }) => step), ...next]
  const branches = ran.map((each) => toRan(each, false))
  return countEntryBytes({ steps, branches }) + countJournalBytes(workflow) > JOURNAL_BYTES_MAX
}

/**
 * Takes over an accepted plan. What the code itself has run comes right behind what this plan call had seen, before whatever
 * has ended meanwhile: a replay meets it in the order in which the code did.
 */
export function acceptPlan(workflow: Submitted, progress: OpProgress, plan: Plan, now: number): Submitted {
  // The answer of a plan has the payloads of its steps, which no view shows; all that counts of it is carried out.
  const { answer, ...call } = progress
  const ran = plan.ran.map((each) => toRan(each, answer !== undefined))
  const { steps, branches, order, plan: before, version = plan.version } = workflow
  const first = steps.length
  const ranPositions = plan.ran.map((_, index) => first + index)
  const isContinue = plan.outcome.type === 'continue'
  // Signals that the function has not seen are carried over, like those that the call did not bring.
  const seen = (isContinue ? plan.outcome.seen : undefined) ?? before.seen + ranPositions.length
  const hasPivot = plan.next.some(({ branch }) => branch.role === 'pivot')
  const hasFailed = plan.ran.some(isFailedStep)
  const next: Submitted = {
    ...workflow,
    version,
    steps:
      plan.ran.length + plan.next.length === 0
        ? steps
        : [...steps, ...plan.ran.map(({ step }) => step), ...plan.next],
    branches: [...branches, ...ran, ...plan.next.map(() => UNTOUCHED)],
    order: [...order.slice(0, before.seen), ...ranPositions, ...order.slice(before.seen)],
    plan: {
      ...before,
      ...{ seen, call, until: plan.outcome.type === 'wait' ? plan.outcome.until : 'end' },
      ...(hasFailed ? { hasFailedWithin: true as const } : {}),
      ...(isContinue ? { continueWith: plan.outcome.input } : {}),
    },
    seenAt: [...workflow.seenAt, ...ranPositions.map(() => before.at)].slice(0, seen),
    updatedAt: now,
    ...(plan.outcome.type === 'done' ? { result: plan.outcome.result } : {}),
    // It is durable with the plan, and so before the pivot is called.
    ...(hasPivot ? { noReturnAt: now } : {}),
  }
  // An attempt in which the step did not fail may have gone on under the slots behind it.
  return hasFailed ? sealGranted(withEnds(next)) : withEnds(next)
}

/** A result of the code that is a failure has no effect that could come late, so nothing has to be sealed for it. */
export function isFailedStep({ step, failure }: RanStep): boolean {
  return step.local !== undefined && failure !== undefined
}

/** A failure is shown where people are shown what is answered. */
function toRan({ value, failure }: RanStep, isShown: boolean): SagaBranchProgress {
  const action: OpProgress =
    failure === undefined
      ? { ...IDLE, state: 'succeeded', values: [value ?? null] }
      : {
          ...{ ...IDLE, state: 'failed', result: 'failure', failure: JSON.stringify(failure) },
          ...(isShown ? { answer: JSON.stringify({ code: failure.code, message: failure.message }) } : {}),
        }
  return { ...UNTOUCHED, action }
}
