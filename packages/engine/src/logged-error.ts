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
 *
 * It never throws, since anything may be thrown: a proxy, an error with a getter that throws, or one whose stack a hook of
 * the process has made a list. A part that is not of its type, or that cannot be read, is left out.
 */
export function toLoggedError(error: unknown, depth = 0): LoggedError {
  try {
    return error instanceof Error ? pickParts(error, depth) : { type: typeof error }
  } catch {
    // Even to ask a proxy for its type may throw.
    return { type: typeof error }
  }
}

function pickParts(error: Error, depth: number): LoggedError {
  const code = readText(error, 'code')
  const message = isSafeText(error) ? readText(error, 'message') : undefined
  const stack = listFrames(readText(error, 'stack') ?? '')
  const isDeepest = depth >= CAUSES_MAX
  const cause = isDeepest ? undefined : read(error, 'cause')
  const errors = error instanceof AggregateError && !isDeepest ? read(error, 'errors') : undefined
  return {
    type: readText(error, 'name') ?? 'Error',
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
    ...(stack === '' ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: toLoggedError(cause, depth + 1) }),
    ...(Array.isArray(errors) ? { errors: listErrors(errors, depth + 1) } : {}),
  }
}

function read(owner: object, key: string | number): unknown {
  try {
    return Reflect.get(owner, key)
  } catch {
    return undefined
  }
}

function readText(error: Error, key: string): string | undefined {
  const value = read(error, key)
  return typeof value === 'string' ? value : undefined
}

/** The list is read place by place, because its own methods may be those of another class. */
function listErrors(errors: readonly unknown[], depth: number): readonly LoggedError[] {
  const length = Math.min(Number(read(errors, 'length')), ERRORS_MAX)
  return Array.from({ length }, (_, at) => toLoggedError(read(errors, at), depth))
}

function isSafeText(error: Error): boolean {
  // InvalidRequestError is our own error, but its faults may quote a key of the request.
  return (isCounterstepError(error) && !('faults' in error)) || ('syscall' in error && 'errno' in error)
}

function listFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .join('\n')
}
