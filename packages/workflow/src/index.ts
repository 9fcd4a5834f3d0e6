export { PlanCallError, RefusedStepError, StepError, WorkflowRuleError } from './errors.ts'
export {
  BRANCH_BYTES_MAX,
  LOCAL_READS_MAX,
  PLAN_CALL_DEPTH_MAX,
  STEP_ID_LENGTH_MAX,
  STEP_INPUT_BYTES_MAX,
} from './limits.ts'
export type { PlanHost, RejectionWatch, SlotRun, WorkflowProgram } from './pump/answer-plan.ts'
export { answerPlan } from './pump/answer-plan.ts'
export type { CallAsk, PlanContext, PlanInfo, StepAsk } from './pump/plan-context.ts'
export type { Rehearsed, RehearsedWorld, Undoable } from './rehearsal/orchestrator.ts'
export { REHEARSAL_STARTS_AT, rehearse } from './rehearsal/orchestrator.ts'
export type { Ask, AskRequest } from './rules/ask.ts'
export { findWorkflow } from './rules/find-workflow.ts'
export { type InlineSpent, mayRunInline, nameSlot, placeStep } from './rules/inline-rules.ts'
export type { Move, PlanRunOptions } from './rules/plan-run.ts'
export { PlanRun } from './rules/plan-run.ts'
export { parsePlanCall } from './wire/parse-plan-call.ts'
