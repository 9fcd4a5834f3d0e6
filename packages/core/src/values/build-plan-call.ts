/**
 * Builds the request of a plan call, and the requests of the steps that a plan has named. The results stand in the call as
 * the texts that the services answered, so that a number keeps its digits.
 */
import { mayBeHandedOn } from '@counterstep/protocol'
import { workflowStartAt } from '../rules/workflow-effects.ts'
import { countBytesLeft } from '../rules/workflow-plan.ts'
import { findGrant } from '../rules/workflow-slots.ts'
import { isSeal, toSaga } from '../rules/workflow-steps.ts'
import { findAcceptedAt, type SagaOp, type WorkflowStep, type WorkflowTransaction } from '../transaction.ts'
import { type BranchRequest, buildRequest } from './build-request.ts'
import { writeFailure } from './keep-failure.ts'

/** Everything in it is fixed when the plan is opened, so all calls of one plan have the same bytes, whichever node makes them. */
export function buildPlanCall(workflow: WorkflowTransaction): BranchRequest {
  const { definition, steps, order, plan, generation, version = definition.version } = workflow
  const seen = order.slice(0, plan.seen)
  const isSeen = new Set(seen)
  const pending = steps.filter((step, position) => !isSeen.has(position) && !isSeal(step))
  const head = {
    v: 1,
    gid: workflow.gid,
    workflow: definition.workflow,
    ...(version === undefined ? {} : { version }),
    generation: generation?.number ?? 1,
    plan: plan.number,
    acceptedAt: findAcceptedAt(workflow),
    startAt: workflowStartAt(workflow),
    at: plan.at,
  }
  const parts = [
    JSON.stringify(head).slice(1, -1),
    `"input":${generation?.input ?? definition.input}`,
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
  const built = buildRequest(toSaga(workflow), position, op)
  if (workflow.steps[position]?.local === undefined) return built
  const request = { ...built, headers: workflow.definition.headers }
  if (op === 'action') return request
  const value = findValue(workflow, position)
  // A row of an older version may have a value with which the call would be refused for ever. The barrier's row has it, too.
  return value === undefined || !mayBeHandedOn(value)
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
  const action = workflow.branches[position]?.action
  const head = JSON.stringify({ ...toPending(step), at }).slice(1, -1)
  if (action?.state === 'failed') return `{${head},"failed":${writeFailure(action)}}`
  const value = findValue(workflow, position)
  return value === undefined ? `{${head}}` : `{${head},"value":${value}}`
}

/** Returns the JSON text of what a step has answered. */
export function findValue({ steps, branches }: WorkflowTransaction, position: number): string | undefined {
  const { state, values } = branches[position]?.action ?? {}
  const whole = steps[position]?.kept.indexOf('') ?? -1
  return state === 'succeeded' ? (values?.[whole] ?? undefined) : undefined
}
