/**
 * A prepared statement of better-sqlite3 or node:sqlite, as far as the barrier uses one.
 *
 * @example
 * ```ts
 * const statement: SqliteStatement = database.prepare('SELECT 1')
 * ```
 */
export interface SqliteStatement {
  run(...values: (string | number)[]): { readonly changes: number | bigint }
  get(...values: (string | number)[]): unknown
  all(...values: (string | number)[]): unknown[]
}

/**
 * This is a database of better-sqlite3 or of node:sqlite.
 *
 * @example
 * ```ts
 * const database: SqliteDatabase = new DatabaseSync('bank.db')
 * ```
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  /** better-sqlite3 has this property. */
  readonly inTransaction?: boolean
  /** node:sqlite has this property. */
  readonly isTransaction?: boolean
}

/**
 * Tells whether a transaction is open. Throws a TypeError for a database that cannot tell: a COMMIT could then end
 * another caller's transaction.
 */
export function isInTransaction(database: SqliteDatabase): boolean {
  const answer = database.inTransaction ?? database.isTransaction
  if (answer === undefined) {
    throw new TypeError(
      'the SQLite barrier needs a database of better-sqlite3 or node:sqlite (Node 22.16 or later)',
    )
  }
  return answer
}

/**
 * Returns the cells of a row in the order of its columns. The row may be an object or an array: node:sqlite returns
 * arrays if its option `returnArrays` is set.
 */
export function readCells(row: unknown): readonly unknown[] {
  if (typeof row !== 'object' || row === null) throw new TypeError('a SELECT was answered without a row')
  return Array.isArray(row) ? row : Object.values(row)
}

const SQLITE_BUSY = 5

/** Tells whether another process holds the write lock. The low byte of an extended code is the primary one. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return (error.errcode & 0xff) === SQLITE_BUSY
  return 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
