import type { PlanRefusal } from '@counterstep/protocol'

/** A request is no plan call. It is answered 400: nothing ran, and the orchestrator asks again and tells a person. */
export class PlanCallError extends Error {
  readonly code = 'WORKFLOW_CALL_INVALID'
  /** The JSON pointer of the place. */
  readonly path: string

  constructor(path: string, message: string) {
    super(`${path === '' ? 'the plan call' : path} ${message}`)
    this.name = 'PlanCallError'
    this.path = path
  }
}

/** A step, a `ctx.run` or the function threw something that is no business failure. The plan is asked again. */
export class StepError extends Error {
  readonly code = 'STEP_ERROR'
  /** The step that threw. It is absent if the function itself did. */
  readonly id?: string

  constructor(id: string | undefined, cause: unknown) {
    const thrower = id === undefined ? 'the function of the workflow' : `the step ${id}`
    super(`${thrower} threw; see the cause`, { cause })
    this.name = 'StepError'
    if (id !== undefined) this.id = id
  }
}

/** A host throws this from `runStep` where the slot's row forbids the step. The plan is refused with it. */
export class RefusedStepError extends Error {
  readonly refusal: PlanRefusal

  constructor(refusal: PlanRefusal) {
    super(refusal.message)
    this.name = 'RefusedStepError'
    this.refusal = refusal
  }
}

/** The function sees this where it breaks a rule in a way that it cannot go on from. The plan is refused in any case. */
export class WorkflowRuleError extends Error {
  readonly code = 'WORKFLOW_RULE_BROKEN'

  constructor(message: string) {
    super(message)
    this.name = 'WorkflowRuleError'
  }
}
