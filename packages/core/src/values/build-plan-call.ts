/**
 * Builds the request of a plan call, and the requests of the steps that a plan has named. The results stand in the call as
 * the texts that the services answered, so that a number keeps its digits.
 */
import type { JsonValue, PlanFailure } from '@counterstep/protocol'
import { countBytesLeft } from '../rules/workflow-plan.ts'
import { findGrant } from '../rules/workflow-slots.ts'
import { isSeal, toSaga } from '../rules/workflow-steps.ts'
import { canonicalJson } from '../submission/canonical-json.ts'
import type { SagaOp, WorkflowStep, WorkflowTransaction } from '../transaction.ts'
import { type BranchRequest, buildRequest } from './build-request.ts'

const FAILURE_CODE = 'BRANCH_FAILED'

/** Everything in it is fixed when the plan is opened, so all calls of one plan have the same bytes, whichever node makes them. */
export function buildPlanCall(workflow: WorkflowTransaction): BranchRequest {
  const { definition, steps, order, plan, version = definition.version } = workflow
  const seen = order.slice(0, plan.seen)
  const isSeen = new Set(seen)
  const pending = steps.filter((step, position) => !isSeen.has(position) && !isSeal(step))
  const head = {
    v: 1,
    gid: workflow.gid,
    workflow: definition.workflow,
    ...(version === undefined ? {} : { version }),
    generation: 1,
    plan: plan.number,
    acceptedAt: workflow.createdAt,
    startAt: workflow.createdAt + (definition.delayMs ?? 0),
    at: plan.at,
  }
  const parts = [
    JSON.stringify(head).slice(1, -1),
    `"input":${definition.input}`,
    `"journal":[${seen.map((position, index) => writeEntry(workflow, position, workflow.seenAt[index] ?? plan.at)).join(',')}]`,
    `"pending":${JSON.stringify(pending.map(toPending))}`,
    `"grant":${JSON.stringify(findGrant(workflow))}`,
    `"bytesLeft":${countBytesLeft(workflow)}`,
  ]
  const { handler: url, headers } = definition
  return { url, body: `{${parts.join(',')}}`, contentType: 'application/json', headers }
}

/** Builds the request of a step. The undo of a local step gets what its action has answered, if that is known. */
export function buildStepRequest(workflow: WorkflowTransaction, position: number, op: SagaOp): BranchRequest {
  const request = buildRequest(toSaga(workflow), position, op)
  const step = workflow.steps[position]
  if (op === 'action' || step?.local === undefined) return request
  const value = findValue(workflow, position)
  return value === undefined
    ? request
    : { ...request, body: `${request.body.slice(0, -1)},"value":${value}}` }
}

/** Tells whether a call goes to the handler of the workflow, which alone knows the kind. */
export function isForHandler({ steps }: WorkflowTransaction, position: number): boolean {
  return position < 0 || steps[position]?.local !== undefined
}

function toPending({ id, is, name, local, branch }: WorkflowStep) {
  return {
    id,
    is,
    ...(name === undefined ? {} : { name }),
    ...(local === undefined ? {} : { slot: branch.id }),
  }
}

function writeEntry(workflow: WorkflowTransaction, position: number, at: number): string {
  const step = workflow.steps[position] as WorkflowStep
  const { state } = workflow.branches[position]?.action ?? {}
  const head = JSON.stringify({ ...toPending(step), at }).slice(1, -1)
  if (state === 'failed') return `{${head},"failed":${JSON.stringify(readFailure(workflow, position))}}`
  const value = findValue(workflow, position)
  return value === undefined ? `{${head}}` : `{${head},"value":${value}}`
}

function findValue({ steps, branches }: WorkflowTransaction, position: number): string | undefined {
  const { state, values } = branches[position]?.action ?? {}
  const whole = steps[position]?.kept.indexOf('') ?? -1
  return state === 'succeeded' ? (values?.[whole] ?? undefined) : undefined
}

/** A service that fails says why in JSON. Anything else that it says is the message. */
function readFailure({ branches }: WorkflowTransaction, position: number): PlanFailure {
  const { answer = '', error } = branches[position]?.action ?? {}
  const value = parseObject(answer)
  const { code, message, details } = value
  if (typeof code !== 'string' || code === '') return { code: FAILURE_CODE, message: answer || (error ?? '') }
  return {
    code,
    message: typeof message === 'string' ? message : '',
    ...(mayDeliver(details) ? { details } : {}),
  }
}

/** A service may say what it likes, and what is nested too deep would make the handler refuse the whole call. */
function mayDeliver(details: unknown): details is JsonValue {
  return details !== undefined && canonicalJson(details as JsonValue) !== undefined
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    // It is an excerpt, or no JSON.
    return {}
  }
}
