import type { SubmitView, TransactionView, WorkflowSubmitRequest } from '@counterstep/protocol'
import type { SubmitOptions } from '../options.ts'
import type { Setup } from '../setup.ts'
import { submit } from '../submit.ts'
import { countGrantsByDefault } from './grants.ts'
import type { Workflow } from './workflow.ts'

/** The input may be left out where the function takes none. */
type InputField<Input> = undefined extends Input ? { readonly input?: Input } : { readonly input: Input }

/**
 * Says where a workflow runs, and with which input. `handler` is the URL of its `workflowHandler`. Up to `grants` local
 * steps run within one plan call: by default 8, and 0 without a barrier. `version` is by default that of the workflow where there
 * are grants, and else the newest that the handler has when the first plan is made. A workflow is found by its `name` and `tags`; every reader sees them.
 *
 * @example
 * ```ts
 * const settings: StartSettings<{ sku: string }> = {
 *   gid: `order-${orderId}`,
 *   handler: 'shop:/workflows',
 *   input: { sku: 'cup' },
 *   deadlineMs: 3_600_000,
 * }
 * ```
 */
export type StartSettings<Input> = Omit<WorkflowSubmitRequest, 'kind' | 'workflow' | 'input'> &
  InputField<Input>

/**
 * The answer to a start. It has a `result`, which the function has returned, only where `waitMs` was long enough for that.
 *
 * @example
 * ```ts
 * const { status, result }: StartView<{ payment: string }> = await client.start(order, settings, { waitMs: 10_000 })
 * if (status === 'succeeded') console.log(result?.payment)
 * ```
 */
export type StartView<Result> = Omit<SubmitView, 'result'> & { readonly result?: Result }

/**
 * A workflow that has ended. It has a `result`, which the function has returned, if it has succeeded.
 *
 * @example
 * ```ts
 * const ended: EndedWorkflow<{ payment: string }> = await client.wait(gid, { workflow: order })
 * ```
 */
export type EndedWorkflow<Result> = Omit<TransactionView, 'result'> & { readonly result?: Result }

export async function start<Input, Result>(
  setup: Setup,
  { name, version, hasBarrier }: Workflow<Input, Result>,
  settings: StartSettings<Input>,
  options: SubmitOptions,
): Promise<StartView<Result>> {
  const { grants = countGrantsByDefault(hasBarrier) } = settings
  // A first plan that has run steps may be asked again at a handler with a newer version, which would run others.
  const pinned = grants > 0 ? { version } : {}
  const request = {
    grants,
    ...pinned,
    ...settings,
    kind: 'workflow',
    workflow: name,
  } as WorkflowSubmitRequest
  // The handler has the workflow's code, so its result is of this type, as it comes out of JSON.
  return (await submit(setup, request, options)) as StartView<Result>
}
