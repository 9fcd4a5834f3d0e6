import type { JsonValue } from '@counterstep/protocol'
import { type Deadline, within } from '../barrier/deadline.ts'
import { isThenable } from '../barrier/thenable.ts'
import { type Awaitable, refuseAsync } from './steps.ts'

/** The value that the handler of a call returned, or the error that it threw. */
export type HandlerResult = { readonly entry: unknown } | { readonly error: unknown }

/** The handler of one call within one transaction. It is asked only once, however often its group is planned. */
export class CallHandler {
  readonly #entry: (original: JsonValue | undefined) => unknown
  #made: Awaitable<HandlerResult> | undefined

  constructor(entry: (original: JsonValue | undefined) => unknown) {
    this.#entry = entry
  }

  /**
   * Asks the handler. The handler gets the first answer of the op that its call undoes. The promise never rejects,
   * because it may settle before it is awaited. A handler that is late fails with BARRIER_TIMED_OUT. Without a limit
   * the handler must be synchronous.
   */
  ask(limit: Deadline | undefined, original: JsonValue | undefined): Awaitable<HandlerResult> {
    this.#made ??= this.#ask(limit, original)
    return this.#made
  }

  #ask(limit: Deadline | undefined, original: JsonValue | undefined): Awaitable<HandlerResult> {
    try {
      const made = this.#entry(original)
      if (!isThenable(made)) return { entry: made }
      if (limit === undefined) return { error: refuseAsync(made) }
      return within(limit, async () => made).then(
        (entry: unknown) => ({ entry }),
        (error: unknown) => ({ error }),
      )
    } catch (error: unknown) {
      return { error }
    }
  }
}
