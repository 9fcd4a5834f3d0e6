import { type JsonValue, OWN_CALL_ID } from '@counterstep/protocol'
import {
  answerPlan,
  findWorkflow,
  PlanCallError,
  type PlanHost,
  parsePlanCall,
  RefusedStepError,
  type SlotRun,
  StepError,
} from '@counterstep/workflow'
import type { BarrierCall, Branch } from '../branch/branch.ts'
import { BranchError, isBranchError, isBranchFailure, isBranchOngoing } from '../branch/branch-errors.ts'
import { createFailure, readFailure } from '../branch/failures.ts'
import { buildJsonAnswer, type HttpAnswer, toErrorAnswer, toOutcomeAnswer } from '../branch/http-answer.ts'
import { type BranchRequest, parseWorkflowCall } from '../branch/parse-branch.ts'
import type { AnsweredBranch } from '../http/answer-branch.ts'
import { withinTrace } from '../telemetry/trace-joiner.ts'
import { nextTurn } from './next-turn.ts'
import { parseStepCall, toCallError } from './parse-step-call.ts'
import { type OnLateError, reportLate } from './report-late.ts'
import { runStep, type StepOutcome, undoRow } from './run-step.ts'
import type { AnyStep } from './step.ts'
import { watchRejections } from './watch-rejections.ts'
import type { Workflow } from './workflow.ts'
import { WorkflowRefusedError } from './workflow-refused-error.ts'

type Workflows = readonly Workflow<unknown, unknown>[]

/** A plan call that does not say how long it may take ends its run of steps as if it had the server's default time limit. */
const BUDGET_MS_DEFAULT = 10_000
const BARRIER_REFUSALS = ['ALREADY_COMPENSATED', 'GID_REUSED'] as const
const COUNT = /^\d{1,9}$/

/**
 * Answers a call of a workflow's handler: a plan, a local step, or the undo of one. It never rejects. It is for a framework
 * that has no `workflowHandler` in this package. A plan is answered 200, also one that is refused because the workflow is
 * unknown here or its code has changed; a step is answered as a branch is. A plan in which a step is not done yet is answered 425.
 *
 * `onLateError` is called on Node with the error of a promise that the function has made, if that fails when the plan has been
 * answered. Without it the process warns.
 *
 * @example
 * ```ts
 * const { answer, error } = await answerWorkflow([order], { url, headers, payload })
 * if (error !== undefined) console.error(error)
 * return new Response(answer.body, { status: answer.statusCode, headers: answer.headers })
 * ```
 */
export function answerWorkflow(
  workflows: Workflows,
  request: BranchRequest,
  { onLateError }: { readonly onLateError?: (error: unknown, branch: Branch) => void } = {},
): Promise<AnsweredBranch> {
  return withinTrace(request.headers, () => answer(workflows, request, onLateError))
}

async function answer(
  workflows: Workflows,
  request: BranchRequest,
  onLateError: OnLateError | undefined,
): Promise<AnsweredBranch> {
  let known: { readonly branch?: Branch } = {}
  try {
    const branch = parseWorkflowCall(request)
    known = { branch }
    return { ...(await answerOp(workflows, branch, onLateError)), ...known }
  } catch (error: unknown) {
    const answered = toErrorAnswer(error)
    return isOutcome(error) ? { answer: answered, ...known } : { answer: answered, error, ...known }
  }
}

async function answerOp(
  workflows: Workflows,
  branch: Branch,
  onLateError: OnLateError | undefined,
): Promise<Pick<AnsweredBranch, 'answer' | 'error'>> {
  if (branch.op === 'plan')
    return answerPlanCall(workflows, branch, (reason) => reportLate(onLateError, branch, reason))
  return { answer: await (branch.op === 'action' ? answerStep : answerUndo)(workflows, branch) }
}

/** A plan that is refused is answered all the same, and the log of the service gets the reason. */
async function answerPlanCall(
  workflows: Workflows,
  branch: Branch,
  onLate: (reason: unknown) => void,
): Promise<Pick<AnsweredBranch, 'answer' | 'error'>> {
  try {
    const call = parsePlanCall(writeJson(branch.payload))
    if (branch.branchId !== OWN_CALL_ID || call.gid !== branch.gid)
      throw toCallError('', 'is not that of the plan which the URL names')
    const host: PlanHost = {
      ...createHost(branch),
      runStep: (run) => runGrantedStep(findDeployed(workflows, call), branch, run),
      watchRejections: (run) => watchRejections(run, onLate),
    }
    const planned = await answerPlan(workflows, call, host)
    const answer = buildJsonAnswer(200, JSON.stringify(planned))
    if (typeof planned.then !== 'object' || !('refused' in planned.then)) return { answer }
    const { code, message } = planned.then.refused
    return { answer, error: new WorkflowRefusedError(code, message) }
  } catch (error: unknown) {
    if (error instanceof PlanCallError) throw new BranchError(error.code, error.message, error)
    if (!(error instanceof StepError)) throw error
    const { id, cause } = error
    if (id !== undefined && isBranchOngoing(cause)) throw cause
    throw toStepError(id === undefined ? 'the function of the workflow' : `the step ${id}`, cause)
  }
}

/** A framework has parsed the body, and a plan call is read as a text, so that its depth is bounded before it is walked. */
function writeJson(payload: unknown): string {
  try {
    return JSON.stringify(payload) ?? ''
  } catch (error: unknown) {
    throw new BranchError('WORKFLOW_CALL_INVALID', 'the body cannot be read: it nests too deep', error)
  }
}

function createHost({ headers }: Branch): Omit<PlanHost, 'runStep' | 'watchRejections'> {
  const startedAt = performance.now()
  const budget = headers['counterstep-budget-ms'] ?? ''
  return {
    nextTurn,
    elapsedMs: () => performance.now() - startedAt,
    budgetMs: COUNT.test(budget) ? Number(budget) : BUDGET_MS_DEFAULT,
    createFailure,
    readFailure,
  }
}

/** Runs a step within a plan call, under a slot that is granted. Its row is that of a step with a call of its own. */
async function runGrantedStep(
  workflow: Workflow<unknown, unknown>,
  branch: Branch,
  { slot, id, name, input }: SlotRun,
): Promise<JsonValue | undefined> {
  const step = findStep(workflow, name)
  const call = toBarrierCall(branch, { branchId: slot, op: 'action' })
  try {
    const { barrier, version } = workflow
    return (await runStep(barrier, { step, version, call, input: input as JsonValue | undefined })).value
  } catch (error: unknown) {
    // The function must not catch these: they are no answer of the business to this step.
    const code = isBranchFailure(error) && BARRIER_REFUSALS.find((each) => each === error.code)
    if (code) throw new RefusedStepError({ code, message: `${id}: ${error.message}`, id })
    if (isBranchError(error) && error.code === 'SLOT_TAKEN')
      throw new RefusedStepError({ code: 'SLOT_TAKEN', message: error.message, id })
    throw error
  }
}

async function answerStep(workflows: Workflows, branch: Branch): Promise<HttpAnswer> {
  const { step: name, input, ...called } = parseStepCall(branch.payload)
  if (name === undefined) throw toCallError('/step', 'is missing')
  const workflow = findDeployed(workflows, called)
  const step = findStep(workflow, name)
  try {
    const { barrier, version } = workflow
    return toStepAnswer(await runStep(barrier, { step, version, call: toBarrierCall(branch), input }))
  } catch (error: unknown) {
    throw isOutcome(error) ? error : toStepError(`the step ${name}`, error)
  }
}

async function answerUndo(workflows: Workflows, branch: Branch): Promise<HttpAnswer> {
  const { step: name, input, value, ...called } = parseStepCall(branch.payload)
  const workflow = findDeployed(workflows, called)
  const { barrier } = workflow
  try {
    if (barrier !== undefined) {
      // A plan may have run steps by one version before the answer of another one was accepted.
      const decision = await undoRow(barrier, toBarrierCall(branch), (each, version) =>
        findStep(
          version === undefined ? workflow : findDeployed(workflows, { workflow: workflow.name, version }),
          each,
        ),
      )
      return toStepAnswer({ decision })
    }
    // Without a barrier nothing runs but in a call of its own, which has named the step.
    if (name !== undefined)
      await findStep(workflow, name).undo?.(undefined as never, input as never, value as never)
    return toStepAnswer({})
  } catch (error: unknown) {
    throw isOutcome(error) ? error : toStepError(`the undo of the step ${name ?? branch.branchId}`, error)
  }
}

function toBarrierCall(
  { gid, branchId, op, barrierId, acceptedAt, hasNoUndo, signal }: BarrierCall,
  more: Partial<BarrierCall> = {},
): BarrierCall {
  return {
    gid,
    branchId,
    op,
    ...(barrierId === undefined ? {} : { barrierId }),
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
    ...(hasNoUndo === undefined ? {} : { hasNoUndo }),
    ...(signal === undefined ? {} : { signal }),
    ...more,
  }
}

function findDeployed(
  workflows: Workflows,
  called: { readonly workflow: string; readonly version?: number },
): Workflow<unknown, unknown> {
  const found = findWorkflow(workflows, called)
  if (!('refused' in found)) return found
  throw new BranchError(
    'STEP_UNKNOWN',
    `${found.refused.message}: deploy it again until its workflows have ended`,
  )
}

function findStep({ name: workflow, version, steps }: Workflow<unknown, unknown>, name: string): AnyStep {
  const found = steps.find((step) => step.name === name)
  if (found !== undefined) return found
  const names = steps.map((step) => step.name).join(', ') || 'none'
  throw new BranchError(
    'STEP_UNKNOWN',
    `version ${version} of ${workflow} has no step ${name} here, only ${names}: deploy it again, under this name`,
  )
}

function toStepAnswer({ decision, value }: StepOutcome): HttpAnswer {
  const answer = value === undefined ? undefined : JSON.stringify(value)
  if (decision === undefined) return buildJsonAnswer(200, answer)
  return toOutcomeAnswer(answer === undefined ? { decision } : { decision, answer })
}

/** Tells whether a step or an undo says no, or not yet. A plan has no such answer. */
function isOutcome(error: unknown): boolean {
  return isBranchFailure(error) || isBranchOngoing(error)
}

/** Names the code that threw an error. */
function toStepError(thrower: string, error: unknown): BranchError {
  if (isBranchError(error)) return new BranchError(error.code, `${thrower}: ${error.message}`, error)
  return new BranchError('STEP_ERROR', `${thrower} threw, and will be asked again; see the cause`, error)
}
