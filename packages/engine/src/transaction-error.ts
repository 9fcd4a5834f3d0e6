import { CounterstepError, type ErrorCode, type Gid } from '@counterstep/protocol'

/** An error about one transaction: it names the gid, also one that was made here, so that the caller can ask or submit again. */
export class TransactionError extends CounterstepError {
  readonly gid: Gid

  constructor(code: ErrorCode, message: string, gid: Gid, cause?: unknown) {
    super(code, message, { cause })
    this.name = 'TransactionError'
    this.gid = gid
  }
}
