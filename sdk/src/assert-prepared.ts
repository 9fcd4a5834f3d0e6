import type { TransactionView } from '@counterstep/protocol'
import { isBranchError, isBranchFailure } from './branch/branch-errors.ts'
import { CounterstepError, isCounterstepError } from './errors.ts'

/** Checks, before anything is done for a transaction, that an earlier use of its gid has not decided it already. */
export function assertPrepared({ gid, status }: TransactionView): void {
  if (status === 'prepared') return
  const message = `${gid} is ${status}: it was used before, and nothing was done for it now`
  throw new CounterstepError('SAGA_NOT_PREPARED', message, { meaning: 'failure', gid })
}

const REASON_LENGTH_MAX = 1024
const SURROGATE = /\p{Surrogate}/gu

/**
 * Returns the reason that the server keeps with an abort. An error that is not meant for others gives only its code,
 * or the fact that there was one.
 */
export function toAbortReason(error: unknown): string {
  if (isBranchFailure(error)) {
    // The cut at the limit may split a surrogate pair.
    return `${error.code}: ${error.message}`.slice(0, REASON_LENGTH_MAX).replaceAll(SURROGATE, '\ufffd')
  }
  return isBranchError(error) || isCounterstepError(error) ? error.code : 'an error of its sender'
}
