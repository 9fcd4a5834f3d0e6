import { CounterstepError } from '@counterstep/protocol'

/**
 * The store cannot be reached or cannot write.
 * `applied: 'no'`: the write certainly did not and will not happen. `'unknown'`: it may have happened or may still
 * happen, so the same write must be sent again until the answer is definite.
 */
export class StoreUnavailableError extends CounterstepError {
  readonly applied: 'no' | 'unknown'
  /** The server answers, and refuses the user or the password, so waiting seldom helps. */
  readonly isLoginRefused: boolean

  constructor(
    message: string,
    options: {
      readonly applied: 'no' | 'unknown'
      readonly isLoginRefused?: boolean
      readonly cause?: unknown
    },
  ) {
    super('SAGA_STORE_UNAVAILABLE', message, { cause: options.cause })
    this.name = 'StoreUnavailableError'
    this.applied = options.applied
    this.isLoginRefused = options.isLoginRefused ?? false
  }
}

/** Something has happened that the code rules out. The current attempt must stop. */
export class AssertionError extends CounterstepError {
  constructor(message: string) {
    super('SAGA_INTERNAL', message)
    this.name = 'AssertionError'
  }
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}
