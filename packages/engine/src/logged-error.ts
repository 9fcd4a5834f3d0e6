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
  /** These are the first errors of an AggregateError. */
  readonly errors?: readonly LoggedError[]
}

/**
 * Picks the safe parts of an error by an allow-list: type, code and frames, and the message of our own errors and of
 * system calls. Other messages may quote the data that caused them (a payload, a header value, a row).
 */
export function toLoggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const stack = listFrames(error)
  const isDeepest = depth >= CAUSES_MAX
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(isSafeText(error) ? { message: error.message } : {}),
    ...(stack === '' ? {} : { stack }),
    ...(error.cause === undefined || isDeepest ? {} : { cause: toLoggedError(error.cause, depth + 1) }),
    ...(error instanceof AggregateError && !isDeepest
      ? { errors: error.errors.slice(0, ERRORS_MAX).map((each) => toLoggedError(each, depth + 1)) }
      : {}),
  }
}

function isSafeText(error: Error): boolean {
  // InvalidRequestError is our own error, but its faults may quote a key of the request.
  return (isCounterstepError(error) && !('faults' in error)) || ('syscall' in error && 'errno' in error)
}

function listFrames(error: Error): string {
  const lines = (error.stack ?? '').split('\n')
  return lines
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .join('\n')
}
