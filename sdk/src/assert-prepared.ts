import type { TransactionView } from '@counterstep/protocol'
import { isBranchError, isBranchFailure } from './branch/branch-errors.ts'
import { CounterstepError, isCounterstepError } from './errors.ts'

/** Before anything is done for it: what was decided by an earlier use of its gid is not decided again. */
export function assertPrepared({ gid, status }: TransactionView): void {
  if (status === 'prepared') return
  const message = `${gid} is ${status}: it was used before, and nothing was done for it now`
  throw new CounterstepError('SAGA_NOT_PREPARED', message, { meaning: 'failure', gid })
}

const REASON_LENGTH_MAX = 1024
const SURROGATE = /\p{Surrogate}/gu

/** What the server keeps with an abort. Of an error that is not meant for others, only that there was one. */
export function toAbortReason(error: unknown): string {
  if (isBranchFailure(error)) {
    // Cut at the bound, a pair may be halved.
    return `${error.code}: ${error.message}`.slice(0, REASON_LENGTH_MAX).replaceAll(SURROGATE, '\ufffd')
  }
  return isBranchError(error) || isCounterstepError(error) ? error.code : 'an error of its sender'
}
