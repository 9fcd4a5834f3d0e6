import { CounterstepError, type ErrorCode, type Gid } from '@counterstep/protocol'

/**
 * This is an error about one transaction. It has the gid, even one that was drawn
 * here, so that the caller can read it or submit it again.
 */
export class TransactionError extends CounterstepError {
  readonly gid: Gid

  constructor(code: ErrorCode, message: string, gid: Gid, cause?: unknown) {
    super(code, message, { cause })
    this.name = 'TransactionError'
    this.gid = gid
  }
}

export function toUnknownGidError(gid: Gid): TransactionError {
  return new TransactionError('SAGA_UNKNOWN_GID', 'there is no transaction with this gid', gid)
}
