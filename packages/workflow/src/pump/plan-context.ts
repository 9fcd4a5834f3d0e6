import type { PlannedBranch } from '@counterstep/protocol'

/** A call as the function asks for it. `write` gets the final id, to which a compensation may refer. */
export interface CallAsk {
  /** The URL as it is written in the code: what a changed call is recognized by. */
  readonly url: string
  readonly hasUndo: boolean
  readonly write: (id: string) => PlannedBranch
}

/** A local step as the function asks for it. */
export interface StepAsk {
  readonly name: string
  readonly hasUndo: boolean
  readonly input: unknown
}

/** The workflow as its function may read it. */
export interface PlanInfo {
  readonly gid: string
  readonly workflow: string
  readonly version: number
  readonly generation: number
  /** The journal has grown so far that the function should go on with `continueWith`, where it can. */
  readonly continueSuggested: boolean
}

/** Everything that a function may wait for or ask. The SDK puts the types of steps, endpoints and signals on top. */
export interface PlanContext {
  readonly info: PlanInfo
  /** Asks for a local step, which is exactly once behind a barrier. It rejects with the step's failure. */
  step(step: StepAsk): Promise<unknown>
  /** Asks for a call of a service. It rejects with the service's failure. */
  call(id: string, call: CallAsk): Promise<unknown>
  /** Runs code that needs no undoing: at least once, until its value is journaled. */
  run(id: string, run: () => unknown): Promise<unknown>
  sleep(id: string, ms: number): Promise<void>
  /** Waits for a signal, and resolves to what it carries, or to undefined when its time is over. */
  signal(id: string, name: string, options?: { readonly timeoutMs?: number }): Promise<unknown>
  /**
   * Asks for the point of no return, once nothing else may have an effect. All that follows uses the ctx it gives, or what
   * `toContext` makes of that.
   */
  pivot<Context = PlanContext>(
    pivot: ({ readonly id: string } & CallAsk) | StepAsk,
    toContext?: (ctx: PlanContext) => Context,
  ): Promise<{ readonly value: unknown; readonly ctx: Context }>
  /** Waits as Promise.all does, and is planned once for all of them. */
  all(promises: readonly unknown[]): Promise<readonly unknown[]>
  /** Waits as Promise.race does. What loses goes on. */
  race(promises: readonly unknown[]): Promise<unknown>
  /** The time at which this place was first reached, in epoch milliseconds. */
  now(): number
  /** A number in [0, 1), the same on every replay, and no secret. */
  random(): number
  uuid(): string
  /** Whether a workflow that comes here is new enough for the changed code behind it. */
  patched(id: string): boolean
  /** Ends this generation and begins the next. `keep` says that nothing of this one will be undone. */
  continueWith(input: unknown, options?: { readonly keep: true }): Promise<never>
}
