import { isCounterstepError } from '@counterstep/protocol'

const CAUSES_MAX = 3
const FRAMES_MAX = 20

export interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly stack?: string
  readonly cause?: LoggedError
}

/**
 * An allow-list, not a clean-up: type, code, frames, and the message only of our own errors and of system calls.
 * Other texts quote what they tripped over (a payload, a header value, a row).
 */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const stack = framesOf(error)
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    ...(isSafeText(error) ? { message: error.message } : {}),
    ...(stack === '' ? {} : { stack }),
    ...(error.cause === undefined || depth >= CAUSES_MAX
      ? {}
      : { cause: loggedError(error.cause, depth + 1) }),
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
