import { SqlError, type SqlFault } from '@counterstep/store-sql'

/** A wait for a lock was too long. Without a row it was for the lock of a table, for which every other row would wait as long. */
const LOCK_NOT_AVAILABLE = '55P03'

/** PostgreSQL's codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAULTS: ReadonlyMap<string, SqlFault> = new Map([
  ['25006', 'read-only'], // The server is a standby.
  ['40001', 'repeat'],
  ['40P01', 'repeat'], // Deadlock.
  [LOCK_NOT_AVAILABLE, 'lock-wait'],
  ['57014', 'stall'], // The server's own statement_timeout, or an administrator, has ended the statement.
  ['53300', 'crowded'],
  ['25P03', 'lost'], // Idle in a transaction for too long.
  ['57P01', 'lost'],
  ['57P02', 'lost'],
  ['57P05', 'lost'],
  ['42501', 'unavailable'], // The user has no right to the table.
  ['42P01', 'unavailable'], // The table is not there.
  ['54000', 'row'],
])

/** The first two characters of a code name its class. */
const FAULTS_OF_CLASSES: ReadonlyMap<string, SqlFault> = new Map([
  ['08', 'lost'],
  ['22', 'row'],
  ['23', 'row'],
  ['42', 'row'], // The statement is no SQL. This is a bug here, and waiting does not help.
])

const LOST_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED'])

/** The texts of these classes quote values or the statement, and so payloads. */
const QUOTING = /^(?:22|42)/

/** The server has refused the user or the password, or has no such database. */
const LOGIN_REFUSED: ReadonlySet<string> = new Set(['28000', '28P01', '3D000'])

/**
 * After these the connection ends, and the statement may have been applied all the same: a proxy that has lost its server
 * sends such errors too, and so does a server that is stopped while a COMMIT waits for a standby. Class 01 is the warning that
 * the wait was cancelled, after which the COMMIT has been done.
 */
const UNCERTAIN = /^(?:01|08|57P|58|XX|40003)/

/** A code of the server. The system's own codes, of which EPIPE and EPERM are as long, begin with an E, and no class of these does. */
const SQLSTATE = /^(?!E)[0-9A-Z]{5}$/

/** The driver's error as it may be thrown by a query or by the connection. */
interface DriverError {
  readonly code: string
  readonly message: string
  /** Only an error that the server has sent has it. */
  readonly severity: string
  /** Names the row that the server was at work on, if there was one. */
  readonly where: string
}

export function toSqlError(error: unknown): SqlError {
  const { code = '', message = String(error), severity, where } = error as Partial<DriverError>
  if (severity === undefined || !SQLSTATE.test(code)) {
    const isLost = LOST_CODES.has(code) || code === ''
    return new SqlError(isLost ? 'lost' : 'unavailable', message, 0, code)
  }
  const text = QUOTING.test(code) ? `the server's error ${code}` : `${message} (${code})`
  if (code === LOCK_NOT_AVAILABLE && where === undefined) return new SqlError('stall', text, 0, code)
  const fault = FAULTS.get(code) ?? FAULTS_OF_CLASSES.get(code.slice(0, 2)) ?? 'unavailable'
  return new SqlError(fault, text, 0, code)
}

/** The server has refused this one statement and has undone it. */
export function isCertain({ code, fault }: SqlError): boolean {
  return SQLSTATE.test(code) && !UNCERTAIN.test(code) && fault !== 'lost'
}

/** The session has ended, or its state is unknown. It must not be used again. */
export function endsSession(error: SqlError): boolean {
  return !isCertain(error) || error.fault === 'read-only'
}

/** The user has no right to do this, or has no schema to do it in. */
export function isDenied({ code }: SqlError): boolean {
  return code === '42501' || code === '3F000'
}

export function isTableMissing({ code }: SqlError): boolean {
  return code === '42P01'
}

export function isLoginRefused({ code }: SqlError): boolean {
  return LOGIN_REFUSED.has(code)
}
