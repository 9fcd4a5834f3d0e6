import { isCounterstepError, isRefused } from '@counterstep/sdk/operator'

/** 0: done. 1: the command line is wrong, or the plan was not agreed to. 2: refused. 3: unknown. 4: there is no such transaction. */
export type ExitCode = 0 | 1 | 2 | 3 | 4

/** The command was not given, because the person did not want it or could not be asked. */
export class NotGivenError extends Error {
  override readonly name = 'NotGivenError'
  readonly exitCode: 1 | 2

  /** `exitCode` is 2 if the server would refuse it. */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const CONFIRMATION_NEEDED =
  'A call of it may have taken effect. Look at the service; if none has, add --confirm no-call-took-effect.'

const UNKNOWN_ONES: readonly string[] = ['SAGA_UNKNOWN_GID', 'SAGA_UNKNOWN_JOB', 'SAGA_UNKNOWN_PANEL']

export function toExitCode(error: unknown): ExitCode {
  if (error instanceof NotGivenError) return error.exitCode
  if (isOfSystem(error)) return 1
  if (!isRefused(error)) return 3
  return UNKNOWN_ONES.includes(error.code) ? 4 : 2
}

/** Says what went wrong, in lines. Other errors may quote their input, even a key. */
export function describeError(error: unknown): readonly string[] {
  if (error instanceof NotGivenError) return [error.message]
  if (!isCounterstepError(error))
    return [`an unexpected ${error instanceof Error ? error.name : typeof error}`]
  // The words of the server name the field of its API.
  if (error.code === 'SAGA_CONFIRMATION_REQUIRED') return [`${CONFIRMATION_NEEDED} (${error.code})`]
  const faults = isRefused(error) ? error.faults : []
  const cause = findCause(error.cause)
  return [
    `${error.message}${cause === undefined ? '' : `: ${cause}`} (${error.code})`,
    ...faults.slice(1).map(({ path, message, code }) => `${path}: ${message} (${code})`),
  ]
}

/** A file that the person has named cannot be read. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

function findCause(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  return cause.cause instanceof Error ? cause.cause.message : cause.message
}
