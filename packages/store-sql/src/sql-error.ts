import { AssertionError, StoreUnavailableError } from '@counterstep/core'

/** The meaning of an error of the server or of the connection for the statement that met it. */
export type SqlFault =
  /** The gid exists. The statement was taken back, the database transaction was not. */
  | 'duplicate'
  /** Rolled back or overtaken: the whole database transaction may be repeated at once. */
  | 'repeat'
  /** Another transaction has held a row's lock for too long. */
  | 'lock-wait'
  /** The row itself cannot be written. The statement was taken back. */
  | 'row'
  /** The server is a former primary, which takes only reads. */
  | 'read-only'
  /** The connection has ended. */
  | 'lost'
  /** The server has not answered in time. */
  | 'timeout'
  /** The server has not answered in time, but had just answered before: it may wait for several locks in turn. */
  | 'stall'
  /** The server takes no more connections. Those that are open work. */
  | 'crowded'
  /** Any other reason why the server or the database cannot serve us now. */
  | 'unavailable'

/** The server's or the driver's error without the statement, which holds payloads and would be logged with it. */
export class SqlError extends Error {
  /** The number that the server gives its errors, or 0 if it gives none or the error is not the server's. */
  readonly errno: number
  readonly code: string
  readonly fault: SqlFault

  constructor(fault: SqlFault, message: string, errno = 0, code = '') {
    super(message)
    this.name = 'SqlError'
    this.fault = fault
    this.errno = errno
    this.code = code
  }
}

/** The statements have not left, or not whole, or were not reached. The server does none of them. */
export class UnsentError extends SqlError {}

/** The cause is the server as a whole, and not a row or another transaction. */
export function isServerFault({ fault }: SqlError): boolean {
  return fault === 'read-only' || fault === 'lost' || fault === 'timeout' || fault === 'unavailable'
}

/** A timeout of a server that has just answered is a stall. */
export function toStall(error: SqlError): SqlError {
  if (error.fault !== 'timeout') return error
  return new SqlError('stall', `a statement had no answer in time: ${error.message}`, error.errno, error.code)
}

/** Nothing was applied. A fault of the statement or of the row would come again, so it is a bug and not an outage. */
export function toStoreError(error: SqlError, isLoginRefused: boolean): Error {
  if (error.fault === 'row' || error.fault === 'duplicate') return new AssertionError(error.message)
  return new StoreUnavailableError(error.message, { applied: 'no', isLoginRefused, cause: error })
}

/** The failure of a later try, after an earlier try of the same write that may have been applied, or still may be. */
export function asOutcomeUnknown(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error
  return new StoreUnavailableError(error.message, { applied: 'unknown', cause: error.cause })
}
