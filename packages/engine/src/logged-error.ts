import { isCounterstepError } from '@counterstep/protocol'

const CAUSES_MAX = 3
const ERRORS_MAX = 8
const FRAMES_MAX = 20

export interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly stack?: string
  readonly cause?: LoggedError
  /** Of an AggregateError, the first ones. */
  readonly errors?: readonly LoggedError[]
}

/**
 * An allow-list, not a clean-up: type, code, frames, and the message only of our own errors and of system calls.
 * Other texts quote what they tripped over (a payload, a header value, a row).
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const stack = framesOf(error)
  const isDeepest = depth >= CAUSES_MAX
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(isSafeText(error) ? { message: error.message } : {}),
    ...(stack === '' ? {} : { stack }),
    ...(error.cause === undefined || isDeepest ? {} : { cause: loggedError(error.cause, depth + 1) }),
    ...(error instanceof AggregateError && !isDeepest
      ? { errors: error.errors.slice(0, ERRORS_MAX).map((each) => loggedError(each, depth + 1)) }
      : {}),
  }
}

function isSafeText(error: Error): boolean {
  // An InvalidRequestError is ours, but its faults may quote a key of the request.
  return (isCounterstepError(error) && !('faults' in error)) || ('syscall' in error && 'errno' in error)
}

function framesOf(error: Error): string {
  const lines = (error.stack ?? '').split('\n')
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .join('\n')
}
