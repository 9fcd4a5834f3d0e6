import { isBranchId, isName } from '@counterstep/protocol'
import { STEP_ID_LENGTH_MAX, type WorkflowProgram } from '@counterstep/workflow'
import type { Barrier } from '../barrier/barrier.ts'
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
  options: Versioned & { readonly barrier: Barrier<Tx>; readonly steps: Steps },
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
  const { version, barrier, steps = [] } = options
  if (!isName(name)) throw new TypeError(`${name} is no name of a workflow`)
  if (!Number.isSafeInteger(version) || version < 1)
    throw new TypeError('the version of a workflow is 1, 2, 3, …')
  assertStepNames(steps)
  return {
    name,
    version,
    steps,
    hasBarrier: barrier !== undefined,
    // The overloads say that it is a barrier of the database that the steps take.
    ...(barrier === undefined ? {} : { barrier: barrier as Barrier<never> }),
    run: (plan, input) => run(createContext(plan, steps) as never, input as never),
  }
}

function assertStepNames(steps: readonly AnyStep[]): void {
  const names = steps.map(({ name }) => name)
  const wrong = names.find((name) => !isBranchId(name) || name.length > STEP_ID_LENGTH_MAX)
  if (wrong !== undefined)
    throw new TypeError(`${wrong} is no name of a step: 1–${STEP_ID_LENGTH_MAX} of A-Z a-z 0-9 . _ : -`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new TypeError(`there are two steps ${twice}, and a step is found by its name`)
}
