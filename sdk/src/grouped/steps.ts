import { isThenable } from '../barrier/thenable.ts'
import { BranchError } from '../branch/branch-errors.ts'

/** This is a value, or the promise of one. */
export type Awaitable<T> = T | Promise<T>

/**
 * A computation that leaves its waits to its runner. So the same code serves the databases that answer later and
 * SQLite, whose effects must be synchronous.
 */
export type Steps<T> = Generator<unknown, T, never>

/** Waits once, for example in `const rows = yield* wait(table.readStanding())`. */
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

/** Runs the steps synchronously. A step that makes a promise is refused. */
export function runStepsNow<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    step = isThenable(value) ? steps.throw(refuseAsync(value)) : steps.next(value as never)
  }
  return step.value
}

export function refuseAsync(promise: PromiseLike<unknown>): BranchError {
  // The promise is refused whatever its outcome. Without a handler its rejection would end the process. A query that
  // runs only when it is awaited is left alone.
  if (promise instanceof Promise) promise.catch((error: unknown) => error)
  return new BranchError(
    'BARRIER_EFFECT_ASYNC',
    'behind the SQLite barrier apply and handler must be synchronous',
  )
}
