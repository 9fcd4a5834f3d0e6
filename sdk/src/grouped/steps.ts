import { isThenable } from '../barrier/thenable.ts'
import { BranchError } from '../branch/branch-errors.ts'

/** A value, or the promise of one. */
export type Awaitable<T> = T | Promise<T>

/**
 * A computation that leaves its waits to whoever runs it, so that one text serves the databases that answer later and
 * SQLite, whose effects must not let go of the connection.
 */
export type Steps<T> = Generator<unknown, T, never>

/** One wait: `const rows = yield* waited(table.standing())`. */
export function* wait<T>(value: Awaitable<T>): Generator<unknown, T, T> {
  return yield value
}

export async function runSteps<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (step.done !== true) step = await resume(steps, step.value)
  return step.value
}

async function resume<T>(steps: Steps<T>, awaited: unknown): Promise<IteratorResult<unknown, T>> {
  let value: unknown
  try {
    value = await awaited
  } catch (error: unknown) {
    return steps.throw(error)
  }
  return steps.next(value as never)
}

/** A promise is refused at the step that made it. */
export function runStepsNow<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    step = isThenable(value) ? steps.throw(refuseAsync(value)) : steps.next(value as never)
  }
  return step.value
}

export function refuseAsync(promise: PromiseLike<unknown>): BranchError {
  // It is refused whatever comes of it; unheard, its rejection would end the process. A query that only runs when it is
  // awaited stays where it is.
  if (promise instanceof Promise) promise.catch((error: unknown) => error)
  return new BranchError(
    'BARRIER_EFFECT_ASYNC',
    'behind the SQLite barrier apply and handler must be synchronous',
  )
}
