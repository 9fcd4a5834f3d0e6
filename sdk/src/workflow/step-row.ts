import type { JsonValue } from '@counterstep/protocol'
import { isThenable } from '../barrier/thenable.ts'
import { BranchError } from '../branch/branch-errors.ts'

/**
 * The answer in the barrier's row of a step: its name, its input, its value, and the version of the workflow that ran it. It
 * commits with the step's effect, so a step that has run can always be undone, even if its answer was lost. The names are short
 * because every row has them. A row that an older release wrote has no version.
 */
export interface StepRow {
  readonly s: string
  readonly w?: number
  readonly i?: JsonValue
  readonly v?: JsonValue
}

export function readStepRow(answer: JsonValue | undefined, slot: string): StepRow {
  // The columns hold only what `do` of a step wrote, unless something else has used the same gid and branch id.
  if (typeof answer === 'object' && answer !== null && 's' in answer && typeof answer.s === 'string')
    return answer as { readonly s: string }
  throw new BranchError('SLOT_TAKEN', `the barrier's row of ${slot} is not that of a step of a workflow`)
}

/**
 * Makes another value of what a function returned, once that is there. A query of a query builder runs only if the barrier
 * awaits it, and a barrier that cannot await anything refuses it before that.
 */
export function mapResult(result: unknown, map: (value: unknown) => unknown): unknown {
  if (result instanceof Promise) return result.then(map)
  return isThenable(result) ? new LazyResult(result, map) : map(result)
}

class LazyResult implements PromiseLike<unknown> {
  readonly #query: PromiseLike<unknown>
  readonly #map: (value: unknown) => unknown

  constructor(query: PromiseLike<unknown>, map: (value: unknown) => unknown) {
    this.#query = query
    this.#map = map
  }

  // biome-ignore lint/suspicious/noThenProperty: The barrier awaits it, or tells by this method that it would have to.
  then<Fulfilled, Rejected>(
    onFulfilled?: ((value: unknown) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): PromiseLike<Fulfilled | Rejected> {
    return this.#query.then(this.#map).then(onFulfilled, onRejected)
  }
}
