import type { JsonValue } from '@counterstep/protocol'
import { BRANCH_ID_RULE, isBranchId } from '@counterstep/protocol'
import { STEP_ID_LENGTH_MAX, type WorkflowProgram } from '@counterstep/workflow'
import type { Barrier, BarrierOutcome } from '../barrier/barrier.ts'
import type { BarrierCall } from '../branch/branch.ts'
import { createContext } from './create-context.ts'
import type { AnyStep } from './step.ts'
import type { WorkflowContext } from './workflow-context.ts'

declare const TYPES: unique symbol

/**
 * A workflow, as code: what {@link workflow} returns. Its input and its result stand in the type alone.
 *
 * @example
 * ```ts
 * const order: Workflow<{ sku: string }, { id: number }> = workflow('order', { version: 1 }, async (_ctx, input: { sku: string }) => ({ id: input.sku.length }))
 * ```
 */
export interface Workflow<Input, Result> extends WorkflowProgram {
  readonly steps: readonly AnyStep[]
  readonly barrier?: Barrier<never>
  readonly [TYPES]?: { readonly input: Input; readonly result: Result }
}

/**
 * A barrier whose effect is the value of a step. That of Redis is none, because its effect is a script: a property of a
 * function type is compared strictly, and a method is not.
 */
type StepBarrier<Tx> = Barrier<Tx> & {
  readonly run: (
    call: BarrierCall,
    effect: (tx: Tx, original?: JsonValue) => unknown,
  ) => Promise<BarrierOutcome>
}

interface Versioned {
  /** A change that workflows which run cannot bear gets the next version; then both are served. */
  readonly version: number
}

/**
 * Makes a workflow of a function. The function is run again and again, with the results that are recorded, so it may await
 * only what `ctx` gives, and must use the time and the chance of `ctx`. With a `barrier` its local steps commit exactly
 * once.
 *
 * @example
 * ```ts
 * const order = workflow('order', { version: 1, barrier, steps: [reserve] }, async (ctx, input: { sku: string; cents: number }) => {
 *   const { id } = await ctx.step(reserve, { sku: input.sku })
 *   const payment = await ctx.call('charge', charge, { payload: { cents: input.cents } })
 *   return { reservation: id, payment: payment.paymentId }
 * })
 * ```
 */
export function workflow<Tx, const Steps extends readonly AnyStep<Tx>[], Input, Result>(
  name: string,
  options: Versioned & { readonly barrier: StepBarrier<Tx>; readonly steps: Steps },
  run: (ctx: WorkflowContext<Steps[number] & AnyStep, Input>, input: Input) => Promise<Result>,
): Workflow<Input, Result>
export function workflow<const Steps extends readonly AnyStep<undefined>[], Input, Result>(
  name: string,
  options: Versioned & { readonly barrier?: never; readonly steps?: Steps },
  run: (ctx: WorkflowContext<Steps[number] & AnyStep, Input>, input: Input) => Promise<Result>,
): Workflow<Input, Result>
export function workflow(
  name: string,
  options: Versioned & { readonly barrier?: object; readonly steps?: readonly AnyStep[] },
  run: (ctx: never, input: never) => Promise<unknown>,
): Workflow<unknown, unknown> {
  const { version, steps = [] } = options
  // The overloads say that it is a barrier of the database that the steps take.
  const barrier = options.barrier as Barrier<never> | undefined
  if (!isBranchId(name)) throw new TypeError(`${name} is no name of a workflow: it ${BRANCH_ID_RULE}`)
  if (!Number.isSafeInteger(version) || version < 1)
    throw new TypeError('the version of a workflow is 1, 2, 3, …')
  assertStepNames(steps)
  for (const step of steps) assertCode(step, barrier)
  return {
    name,
    version,
    steps,
    hasBarrier: barrier !== undefined,
    ...(barrier === undefined ? {} : { barrier }),
    run: (plan, input) => run(createContext(plan, steps) as never, input as never),
  }
}

function assertStepNames(steps: readonly AnyStep[]): void {
  const names = steps.map(({ name }) => name)
  const wrong = names.find((name) => !isBranchId(name) || name.length > STEP_ID_LENGTH_MAX)
  if (wrong !== undefined)
    throw new TypeError(
      `${wrong} is no name of a step: 1–${STEP_ID_LENGTH_MAX} of A-Z a-z 0-9 . _ : -, and not . or ..`,
    )
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new TypeError(`there are two steps ${twice}, and a step is found by its name`)
}

/** A step that could never run behind this barrier is found at the start of the service, and not in its first workflow. */
function assertCode({ name, do: run, undo }: AnyStep, barrier: Barrier<never> | undefined): void {
  for (const code of undo === undefined ? [run] : [run, undo]) {
    if (typeof code !== 'function')
      throw new TypeError(`the step ${name} needs a function do, and may have one undo`)
    try {
      barrier?.assertHandler?.(code)
    } catch (error: unknown) {
      throw new TypeError(`the step ${name}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}

/** Throws a TypeError at construction for a list that could not be served. */
export function assertWorkflows(workflows: readonly Workflow<unknown, unknown>[]): void {
  if (!Array.isArray(workflows) || workflows.length === 0)
    throw new TypeError('a workflowHandler needs a list of at least one workflow')
  const names = workflows.map(({ name, version }) => `version ${version} of ${name}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new TypeError(`the list of workflows has ${twice} twice`)
}
