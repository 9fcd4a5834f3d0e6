export type Cell = string | number | null
export type Row = readonly Cell[]

/** A prepared statement whose rows come as arrays, in the order of their columns. */
export interface Statement {
  /** The number of changed rows. */
  run(...values: readonly unknown[]): number
  get(...values: readonly unknown[]): Row | undefined
  all(...values: readonly unknown[]): readonly Row[]
}

/** The little that this store needs of a synchronous SQLite. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  /** Rolls back what is open. */
  close(): void
}

/** What a driver's module exports. Errors carry SQLite's own name as `code`, e.g. `SQLITE_FULL`. */
export interface DriverModule {
  /** `read`: a connection that can change nothing. Default: `write`. */
  openDatabase(path: string, access?: 'read' | 'write'): Database
}

export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}
