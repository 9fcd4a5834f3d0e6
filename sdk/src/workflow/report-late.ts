import type { Branch } from '../branch/branch.ts'
import { BranchError } from '../branch/branch-errors.ts'
import { callListener } from '../call-listener.ts'

/** Takes an error for the log of the service. */
export type OnLateError = (error: unknown, branch: Branch) => void

const MESSAGE =
  'a promise of the workflow failed after its plan was answered: the function may await only what ctx gives, so what it waits for belongs in ctx.run'

/**
 * Reports that a promise of a function has failed when its plan was answered. The next plan makes another promise, so this one
 * counts for nothing, and must not end the process. If there is no log, or the log throws, the process warns.
 */
export function reportLate(onLateError: OnLateError | undefined, branch: Branch, reason: unknown): void {
  try {
    if (onLateError === undefined) warn(reason)
    else void callListener(onLateError, new BranchError('STEP_ERROR', MESSAGE, reason), branch)
  } catch (error: unknown) {
    warn(error)
  }
}

function warn(reason: unknown): void {
  const detail = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
  process.emitWarning(MESSAGE, { type: 'CounterstepWarning', detail })
}
