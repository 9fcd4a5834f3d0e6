/**
 * Turns a workflow around. It asks no code: what may have run is known by the steps, and by the slots that were granted to plan
 * calls.
 */
import type { AbortCause } from '@counterstep/protocol'
import {
  type AbortDecision,
  IDLE,
  type OpProgress,
  type SagaBranchProgress,
  type WorkflowStep,
  type WorkflowTransaction,
} from '../transaction.ts'
import { PLAN_WORDS, withoutAttention } from './op-progress.ts'
import { giveUpAction } from './saga.ts'
import { findGrant, sealGranted } from './workflow-slots.ts'
import { hasEnded } from './workflow-steps.ts'

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>
type Aborting = Extract<WorkflowTransaction, { readonly status: 'aborting' }>

export interface AbortRequest {
  readonly cause: AbortCause
  readonly branch?: number
  readonly reason?: string
}

export function turnAround(workflow: Submitted, request: AbortRequest, now: number): Aborting {
  const turned = giveUpForward(workflow)
  const branches = turned.branches.flatMap((progress, position) =>
    workflow.sentUnknown || mayHaveRun(turned.steps[position], progress) ? [position] : [],
  )
  const abort: AbortDecision = { ...request, at: now, branches }
  return { ...turned, status: 'aborting', abort, updatedAt: now }
}

/** A granted slot was never sent by itself, so its attempts do not tell. */
export function mayHaveRun(step: WorkflowStep | undefined, { action }: SagaBranchProgress): boolean {
  return action.attempts > 0 || (step?.local?.granted !== undefined && hasEnded(action))
}

/**
 * Gives up what goes forward: no action is called again, and no wait is open. Steps that a plan call under way still answers are
 * never called. Only if it may have run steps under its grant, its slots are sealed, once it has ended.
 */
export function giveUpForward<W extends WorkflowTransaction>(workflow: W): W {
  const { plan, sentUnknown } = workflow
  const wasSent = sentUnknown || plan.number > 1 || plan.call.attempts > 0
  const sealed = wasSent ? sealGranted(workflow) : workflow
  const isAwaited = plan.call.state === 'calling' && findGrant(workflow).count > 0
  const given = isAwaited ? withoutPlanTrouble(sealed) : withoutPlanCall(sealed)
  return { ...given, branches: given.branches.map(giveUpAction) }
}

/** Forgets the plan call, what was wrong with it, and a result that is not durable. */
export function withoutPlanCall<W extends WorkflowTransaction>(workflow: W): W {
  const rest = withoutPlanTrouble(workflow)
  return { ...rest, plan: { ...rest.plan, call: forgetCall(rest.plan.call) } }
}

function forgetCall(call: OpProgress): OpProgress {
  return call.state === 'succeeded' ? call : IDLE
}

function withoutPlanTrouble<W extends WorkflowTransaction>(workflow: W): W {
  const { result: _, ...rest } = withoutPlanAttention(workflow)
  return rest as W
}

/** The handler has answered with a plan, or is not asked any more, so what was wrong with the plan calls before is over. */
export function withoutPlanAttention<W extends WorkflowTransaction>(workflow: W): W {
  return workflow.attention?.startsWith(PLAN_WORDS) === true ? withoutAttention(workflow) : workflow
}
