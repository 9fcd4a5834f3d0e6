import type { CallAsk, PlanContext } from '@counterstep/workflow'
import { type AnyCall, writeCall } from '../branch-call.ts'
import { refToAnswer } from '../ref.ts'
import type { AnyStep } from './step.ts'
import type { WorkflowContext } from './workflow-context.ts'

interface AnyEndpoint {
  readonly url: string
}

type Pivot =
  | readonly [id: string, endpoint: AnyEndpoint, call?: AnyCall]
  | readonly [step: AnyStep, input?: unknown]

/** Puts the types of steps, endpoints and signals on the ctx of one plan call. */
export function createContext<Steps extends AnyStep, Input>(
  plan: PlanContext,
  steps: readonly AnyStep[],
): WorkflowContext<Steps, Input> {
  const toStep = (step: AnyStep, input: unknown) => {
    // A step is undone by its name, so one that the workflow does not know could not be.
    if (!steps.includes(step))
      throw new TypeError(`the step ${step.name} is not in the workflow's list of steps`)
    return { name: step.name, hasUndo: step.undo !== undefined, input }
  }
  const context = {
    get info() {
      return plan.info
    },
    step: (step: AnyStep, input?: unknown) => plan.step(toStep(step, input)),
    call: (id: string, endpoint: AnyEndpoint, call?: AnyCall) => plan.call(id, toCall(endpoint, call)),
    run: (id: string, run: () => unknown) => plan.run(id, run),
    sleep: (id: string, ms: number) => plan.sleep(id, ms),
    signal: (id: string, signal: { readonly name: string }, options?: { readonly timeoutMs?: number }) =>
      plan.signal(id, signal.name, options),
    pivot: (...pivot: Pivot) => {
      const ask = isCallPivot(pivot)
        ? { id: pivot[0], ...toCall(pivot[1], pivot[2]) }
        : toStep(pivot[0], pivot[1])
      return plan.pivot(ask, (ctx) => createContext(ctx, steps))
    },
    all: (promises: readonly unknown[]) => plan.all(promises),
    race: (promises: readonly unknown[]) => plan.race(promises),
    now: () => plan.now(),
    random: () => plan.random(),
    uuid: () => plan.uuid(),
    patched: (id: string) => plan.patched(id),
    continueWith: (input: unknown, options?: { readonly keep: true }) => plan.continueWith(input, options),
  }
  // The types of WorkflowContext say what each method takes, and these take what any of them does.
  return context as unknown as WorkflowContext<Steps, Input>
}

function toCall(endpoint: AnyEndpoint, call: AnyCall = {}): CallAsk {
  return {
    url: endpoint.url,
    hasUndo: call.undo !== undefined,
    write: (id) => writeCall(endpoint, call, refToAnswer(id)),
  }
}

function isCallPivot(pivot: Pivot): pivot is Extract<Pivot, readonly [string, ...unknown[]]> {
  return typeof pivot[0] === 'string'
}
