import type { PayloadValue } from '@counterstep/protocol'
import type { PlanInfo } from '@counterstep/workflow'
import type { BranchCall, SureCall } from '../branch-call.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Signal } from '../signal.ts'
import type { AnyStep, StepAnswer, StepInput } from './step.ts'

/** An input is left out where the step takes none. */
type InputOf<Step> = undefined extends StepInput<Step> ? [input?: StepInput<Step>] : [input: StepInput<Step>]

type Awaiteds<Promises extends readonly unknown[]> = {
  -readonly [Index in keyof Promises]: Awaited<Promises[Index]>
}

/** Everything that a function of a workflow may do before and behind the point of no return. */
interface Waits {
  readonly info: PlanInfo
  /** Runs code that needs no undoing, such as a read of a price: at least once, until its value is recorded. */
  run<Value>(id: string, run: () => Value | Promise<Value>): Promise<Value>
  sleep(id: string, ms: number): Promise<void>
  /**
   * Waits for a signal, and resolves to what it carries, or to undefined when its time is over. So a signal without a
   * payload carries null.
   */
  signal(
    id: string,
    signal: Signal<void>,
    options?: { readonly timeoutMs?: number },
  ): Promise<null | undefined>
  signal<Payload>(
    id: string,
    signal: Signal<Payload>,
    options?: { readonly timeoutMs?: number },
  ): Promise<Payload | undefined>
  /** Waits as Promise.all does. The orchestrator asks once for all of them, and not at each end. */
  all<const Promises extends readonly unknown[]>(promises: Promises): Promise<Awaiteds<Promises>>
  /** Waits as Promise.race does. What loses goes on, and the end of the workflow waits for calls and steps. */
  race<const Promises extends readonly unknown[]>(promises: Promises): Promise<Awaited<Promises[number]>>
  /** The time at which the function first came here, in epoch milliseconds. */
  now(): number
  /** A number from 0 to 1, the same on each replay. It is no secret. */
  random(): number
  /** A UUID, the same on each replay. It is no secret. */
  uuid(): string
  /** Whether changed code may take its new way: false for a workflow that had passed this place before. */
  patched(id: string): boolean
}

/**
 * The ctx of a workflow's function. `Steps` are the local steps that the workflow declares, and `Input` is
 * that of its next generation.
 *
 * @example
 * ```ts
 * async function placeOrder(ctx: WorkflowContext<typeof reserve>, input: { sku: string }) {
 *   const { id } = await ctx.step(reserve, { sku: input.sku })
 *   return id
 * }
 * ```
 */
export interface WorkflowContext<Steps extends AnyStep = AnyStep, Input = unknown> extends Waits {
  /** Runs a local step. Throws its BranchFailure. */
  step<Step extends Steps>(step: Step, ...input: InputOf<Step>): Promise<StepAnswer<Step>>
  /** Calls a service, as a branch. Throws a BranchFailure with the code of its refusal. */
  call<Answer>(id: string, endpoint: Endpoint<void, Answer, unknown>): Promise<Answer>
  call<Request, Answer, UndoRequest = void>(
    id: string,
    endpoint: Endpoint<Request, Answer, unknown>,
    call: BranchCall<Request, Answer, UndoRequest>,
  ): Promise<Answer>
  /**
   * Passes the point of no return by a call, or by a local step: once it has succeeded, nothing is undone. It waits until
   * no other call and no step is under way. What follows uses the ctx that it returns, which takes only what cannot fail.
   */
  pivot<Answer>(id: string, endpoint: Endpoint<void, Answer, unknown>): Promise<Pivoted<Answer, Steps>>
  pivot<Request, Answer>(
    id: string,
    endpoint: Endpoint<Request, Answer, unknown>,
    call: SureCall<Request>,
  ): Promise<Pivoted<Answer, Steps>>
  pivot<Step extends Sure<Steps>>(
    step: Step,
    ...input: InputOf<Step>
  ): Promise<Pivoted<StepAnswer<Step>, Steps>>
  /**
   * Goes on as a new generation, with an empty journal. Nothing of this one will be undone, which `keep` must say where
   * something could be.
   */
  continueWith(input: Input & PayloadValue, options?: { readonly keep: true }): Promise<never>
}

/**
 * A pivot resolves to its answer, and to the ctx for all that follows.
 *
 * @example
 * ```ts
 * const paid: Pivoted<{ paymentId: string }, typeof note> = await ctx.pivot('pay', pay, { payload: { cents: 1_250 } })
 * await paid.ctx.step(note, { text: paid.value.paymentId })
 * ```
 */
export interface Pivoted<Answer, Steps extends AnyStep> {
  readonly value: Answer
  readonly ctx: SureWorkflowContext<Steps>
}

/** Only steps without an undo. */
type Sure<Steps extends AnyStep> = Extract<Steps, { readonly undo?: never }>

/**
 * The ctx behind the point of no return. It takes endpoints that cannot refuse, and steps without an undo.
 *
 * @example
 * ```ts
 * const { ctx: sure } = await ctx.pivot('pay', pay, { payload: { cents: 1_250 } })
 * await sure.call('mail', mail, { payload: { text: 'paid' } })
 * ```
 */
export interface SureWorkflowContext<Steps extends AnyStep = AnyStep> extends Waits {
  step<Step extends Sure<Steps>>(step: Step, ...input: InputOf<Step>): Promise<StepAnswer<Step>>
  call<Answer>(id: string, endpoint: Endpoint<void, Answer>): Promise<Answer>
  call<Request, Answer>(
    id: string,
    endpoint: Endpoint<Request, Answer>,
    call: SureCall<Request>,
  ): Promise<Answer>
}
