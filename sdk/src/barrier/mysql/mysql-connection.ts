import { BranchError } from '../../branch/branch-errors.ts'
import { unwrapLease } from '../lease.ts'
import { listCauses } from '../repeat-contended.ts'

/**
 * Holds one statement as mysql2 takes it.
 *
 * @example
 * ```ts
 * const statement: MysqlStatement = { sql: 'SELECT ?', values: [1] }
 * ```
 */
export interface MysqlStatement {
  readonly sql: string
  readonly values?: (Uint8Array | string | number | null)[]
  readonly rowsAsArray?: boolean
  readonly typeCast?: boolean
  readonly nestTables?: boolean
}

/**
 * This is a connection of mysql2's promise API.
 *
 * @example
 * ```ts
 * const connection: MysqlConnection = await pool.getConnection()
 * ```
 */
export interface MysqlConnection {
  query(statement: MysqlStatement): Promise<readonly [unknown, ...unknown[]]>
}

/**
 * This is a connection that a pool lent.
 *
 * @example
 * ```ts
 * const connection: MysqlPoolConnection = await pool.getConnection()
 * connection.release()
 * ```
 */
export interface MysqlPoolConnection extends MysqlConnection {
  release(): void
  destroy(): void
}

/**
 * This is a pool of mysql2's promise API.
 *
 * @example
 * ```ts
 * const pool: MysqlPool<PoolConnection> = createPool({ uri: 'mysql://bank@127.0.0.1/bank' })
 * ```
 */
export interface MysqlPool<Connection extends MysqlPoolConnection> {
  getConnection(): Promise<Connection>
}

/** Throws a TypeError for mysql2's callback API, whose answers would never come. */
export function assertPromiseApi(value: object, kind: 'pool' | 'connection'): void {
  if ('promise' in value && typeof value.promise === 'function') {
    throw new TypeError(`the MySQL barrier needs the promise API: mysql2/promise, or ${kind}.promise()`)
  }
  const method = kind === 'pool' ? 'getConnection' : 'query'
  if (!(method in value)) throw new TypeError(`this is no mysql2 ${kind}: it has no ${method}()`)
  // Each statement of a pool may go to another connection.
  if (kind === 'connection' && 'getConnection' in value)
    throw new TypeError(
      'this is a mysql2 pool: give one of its connections, in which you have begun a transaction',
    )
}

/** The fields of an OK packet that are read. */
export interface MysqlDone {
  readonly affectedRows: number
  readonly serverStatus: number
}

/** Runs a statement that returns no rows. */
export async function execute(
  connection: MysqlConnection,
  sql: string,
  values: MysqlStatement['values'] = [],
): Promise<MysqlDone> {
  const done = await sendStatement(connection, { sql, values })
  if (isDone(done)) return done
  throw new TypeError('this is no mysql2 connection: a statement was answered without a server status')
}

/** Runs a SELECT. Returns rows as texts in the order of their columns, whatever the connection is set to. */
export async function select(
  connection: MysqlConnection,
  sql: string,
  values: MysqlStatement['values'] = [],
): Promise<readonly (readonly (string | null)[])[]> {
  const rows = await sendStatement(connection, {
    sql,
    values,
    rowsAsArray: true,
    typeCast: true,
    nestTables: false,
  })
  if (!Array.isArray(rows))
    throw new TypeError('this is no mysql2 connection: a SELECT was answered without rows')
  return rows.map((row: readonly unknown[]) => row.map(toText))
}

/**
 * Sends a statement through the callback connection under a promise connection where there is one, because the
 * promise layer takes a stack trace for each query.
 */
function sendStatement(connection: MysqlConnection, statement: MysqlStatement): Promise<unknown> {
  const raw = findCallbackConnection(connection)
  if (raw === undefined) return connection.query(statement).then(([answer]) => answer)
  return new Promise((resolve, reject) => {
    raw.query(withoutValues(raw, statement), (error, answer) => {
      if (error) reject(error)
      else resolve(answer)
    })
  })
}

interface CallbackConnection {
  readonly config?: { readonly queryFormat?: unknown; readonly namedPlaceholders?: unknown }
  query(statement: object, callback: (error: unknown, answer: unknown) => void): unknown
}

/**
 * Tells mysql2 that a statement has no placeholders, so that it does not search for them. A user's own `queryFormat`
 * expects a list of values and gets the statement unchanged.
 */
function withoutValues({ config }: CallbackConnection, statement: MysqlStatement): object {
  if ((statement.values ?? []).length > 0) return statement
  const isUsersOwn = config?.queryFormat !== undefined || config?.namedPlaceholders === true
  return isUsersOwn ? statement : { ...statement, values: null }
}

/**
 * Returns undefined for an object that is no connection of mysql2, and for one whose `query` was replaced: the
 * replacement has to see all statements. The callback connection under a lent connection is lent likewise.
 */
function findCallbackConnection(connection: MysqlConnection): CallbackConnection | undefined {
  if (!('connection' in connection)) return undefined
  const { connection: raw } = connection
  const owner = unwrapLease(connection)
  const isOwnQuery = owner.query === Object.getPrototypeOf(owner).query
  return isOwnQuery && isCallbackConnection(raw) ? raw : undefined
}

function isCallbackConnection(value: unknown): value is CallbackConnection {
  if (typeof value !== 'object' || value === null) return false
  const { query, promise } = value as { readonly query?: unknown; readonly promise?: unknown }
  // Only objects of mysql2's callback API have a method that leads back to promises.
  return typeof query === 'function' && typeof promise === 'function'
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value)
}

export function isDone(value: unknown): value is MysqlDone {
  return typeof value === 'object' && value !== null && 'affectedRows' in value && 'serverStatus' in value
}

// Flags of the server status in the protocol's OK packet.
const IN_TRANSACTION = 1
const AUTOCOMMIT = 2

/** Tells whether the session is in a transaction, or would begin one with the next statement that writes. */
export function isInTransaction(done: MysqlDone): boolean {
  return hasBegun(done) || !commitsByItself(done)
}

/** Tells whether a transaction of the session has begun and not ended, whether or not autocommit is on. */
export function hasBegun({ serverStatus }: MysqlDone): boolean {
  return (serverStatus & IN_TRANSACTION) !== 0
}

/** Tells whether the session has autocommit on. */
export function commitsByItself({ serverStatus }: MysqlDone): boolean {
  return (serverStatus & AUTOCOMMIT) !== 0
}

const DUPLICATE_KEY = 1062
// Deadlock; lock wait timeout; MariaDB: the record has changed since the transaction's snapshot.
const CONTENDED: ReadonlySet<unknown> = new Set([1213, 1205, 1020])
// The server has become a replica: the connection leads to the wrong one and must not go back to the pool.
const READ_ONLY: ReadonlySet<unknown> = new Set([1290, 1792, 1836])

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === DUPLICATE_KEY
}

export function isContended(error: unknown): boolean {
  return hasErrno(error, CONTENDED)
}

export function isReadOnly(error: unknown): boolean {
  return hasErrno(error, READ_ONLY)
}

export function hasErrno(error: unknown, errnos: ReadonlySet<unknown>): boolean {
  for (const cause of listCauses(error)) {
    if ('errno' in cause && errnos.has(cause.errno)) return true
  }
  return false
}

export function toTransactionLostError(detail: string): BranchError {
  return new BranchError('BARRIER_TRANSACTION_LOST', detail)
}
