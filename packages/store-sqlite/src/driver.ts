export type Cell = string | number | null
export type Row = readonly Cell[]

/** This is a prepared statement. Its rows are arrays in the order of their columns. */
export interface Statement {
  /** Returns the number of changed rows. */
  run(...values: readonly unknown[]): number
  get(...values: readonly unknown[]): Row | undefined
  all(...values: readonly unknown[]): readonly Row[]
}

/** The part of a synchronous SQLite that this store needs. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  /** Rolls back an open transaction. */
  close(): void
}

/** These are the exports of a driver's module. Its errors have SQLite's own name as `code`, for example `SQLITE_FULL`. */
export interface DriverModule {
  /** The connection can change nothing if `access` is `read`. The default is `write`. */
  openDatabase(path: string, access?: 'read' | 'write'): Database
}

export function readSqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}
