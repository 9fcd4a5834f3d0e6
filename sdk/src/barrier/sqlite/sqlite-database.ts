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
 * A database of better-sqlite3 or of node:sqlite.
 *
 * @example
 * ```ts
 * const database: SqliteDatabase = new DatabaseSync('bank.db')
 * ```
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  /** Of better-sqlite3. */
  readonly inTransaction?: boolean
  /** Of node:sqlite. */
  readonly isTransaction?: boolean
}

/** Throws a TypeError for what is neither: without this answer a COMMIT could hit somebody else's transaction. */
export function isInTransaction(database: SqliteDatabase): boolean {
  const answer = database.inTransaction ?? database.isTransaction
  if (answer === undefined) {
    throw new TypeError(
      'the SQLite barrier needs a database of better-sqlite3 or node:sqlite (Node 22.16 or later)',
    )
  }
  return answer
}

/** A row in the order of its columns, whatever the database makes of rows: node:sqlite has `returnArrays`. */
export function readCells(row: unknown): readonly unknown[] {
  if (typeof row !== 'object' || row === null) throw new TypeError('a SELECT was answered without a row')
  return Array.isArray(row) ? row : Object.values(row)
}

const SQLITE_BUSY = 5

/** Another process holds the write lock. The low byte of an extended code is the primary one. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return (error.errcode & 0xff) === SQLITE_BUSY
  return 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
