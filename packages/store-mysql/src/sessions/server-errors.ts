import { SqlError, type SqlFault, UnsentError } from '@counterstep/store-sql'

/** The numbers decide, because the driver's names are wrong for some of MariaDB's errors. */
const FAULTS: ReadonlyMap<number, SqlFault> = new Map([
  [1062, 'duplicate'],
  [1213, 'repeat'], // Deadlock; on a cluster also a refused commit.
  [1020, 'repeat'], // MariaDB: the record has changed since the snapshot.
  [3101, 'repeat'], // Rolled back by group replication.
  [1205, 'lock-wait'],
  [1040, 'crowded'],
  [1203, 'crowded'],
  [1226, 'crowded'],
  [1290, 'read-only'],
  [1792, 'read-only'],
  [1836, 'read-only'],
  [1053, 'lost'], // Shutdown in progress.
  [1158, 'lost'],
  [1159, 'lost'],
  [1160, 'lost'],
  [1161, 'lost'],
  [1927, 'lost'], // MariaDB: the connection was killed.
  [4031, 'lost'], // MySQL: closed because of inactivity.
  [1048, 'row'], // NULL in a column that has none.
  [1064, 'row'], // The statement is no SQL. This is a bug here, and waiting does not help.
  [1118, 'row'], // Row size too large, also for the log.
  [1153, 'row'], // Packet too large.
  [1264, 'row'], // Out of range.
  [1265, 'row'],
  [1292, 'row'],
  [1301, 'row'],
  [1366, 'row'],
  [1406, 'row'], // Data too long.
  [1690, 'row'],
  [3819, 'row'], // CHECK, MySQL.
  [4025, 'row'], // CHECK, MariaDB.
])

const LOST_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'PROTOCOL_CONNECTION_LOST',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
])

/** The texts of these errors quote values or the statement, and so payloads. */
const QUOTING: ReadonlySet<number> = new Set([1064, 1265, 1292, 1366, 1690])

/** SQL's own classes for a wrong value and for a violated constraint. */
const DATA_STATE = /^2[23]/

/** After these refusals a COMMIT has certainly not happened and will not. Any other error of a COMMIT that was sent leaves that open. */
const REFUSED_COMMIT: ReadonlySet<SqlFault> = new Set(['repeat', 'read-only'])

/** A client uses these numbers for its connection. A proxy answers with them for its own connection to the server. */
const CLIENT_ERRNO_MIN = 2_000
const CLIENT_ERRNO_MAX = 2_999
/** From here on the numbers are a proxy's own, and no server's. */
const PROXY_ERRNO_MIN = 9_000

export function toSqlError(error: unknown): SqlError {
  const {
    errno = 0,
    code = '',
    sqlState = '',
    syscall,
    sqlMessage,
    message = String(error),
  } = error as Partial<DriverError>
  if (sqlMessage === undefined || errno <= 0) {
    // A packet is one write, and nothing is written after it before its answer.
    const Kind = syscall === 'write' ? UnsentError : SqlError
    return new Kind(toConnectionFault(code), message, 0, code)
  }
  const text = QUOTING.has(errno) ? `${code} (${errno})` : `${sqlMessage} (${errno})`
  const otherwise = DATA_STATE.test(sqlState) ? 'row' : 'unavailable'
  return new SqlError(FAULTS.get(errno) ?? otherwise, text, errno, code)
}

interface DriverError {
  readonly errno: number
  readonly code: string
  readonly sqlState: string
  /** Only Node's own errors have it. */
  readonly syscall: string
  readonly sqlMessage: string
  readonly message: string
}

function toConnectionFault(code: string): SqlFault {
  if (code === 'PROTOCOL_SEQUENCE_TIMEOUT') return 'timeout'
  return LOST_CODES.has(code) ? 'lost' : 'unavailable'
}

/** The session has ended, or its state is unknown. It must not be used again. */
export function endsSession({ fault, errno }: SqlError): boolean {
  return errno === 0 || fault === 'read-only' || fault === 'lost'
}

/** The user has no right to the table, the database or the column, or no right at all. */
const DENIED: ReadonlySet<number> = new Set([1142, 1044, 1143, 1227, 1370])

/** The server refuses the user, the password or the host they come from. */
const LOGIN_REFUSED: ReadonlySet<number> = new Set([
  1044, // The user has no right to the database that the login names.
  1045,
  1130, // The host may not connect.
  1698, // MariaDB: this user must log in another way.
  1862, // The password has expired.
  3118, // The account is locked.
  3955, // The account is locked for a while, after wrong passwords.
  4151, // MariaDB: the account is locked.
])

export function isLoginRefused({ errno }: SqlError): boolean {
  return LOGIN_REFUSED.has(errno)
}

export function isDenied({ errno }: SqlError): boolean {
  return DENIED.has(errno)
}

export function isRefusedCommit(error: SqlError): boolean {
  return error instanceof UnsentError || REFUSED_COMMIT.has(error.fault)
}

/**
 * The server has refused this one statement and has undone it. An error that ends connections does not prove that: a
 * proxy that has lost its server sends such errors too, whatever the server goes on to do.
 */
export function isOfStatement({ fault, errno }: SqlError): boolean {
  if (fault === 'lost' || errno <= 0 || errno >= PROXY_ERRNO_MIN) return false
  return errno < CLIENT_ERRNO_MIN || errno > CLIENT_ERRNO_MAX
}
