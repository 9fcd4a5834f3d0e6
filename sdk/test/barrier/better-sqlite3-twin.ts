import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import type { SqliteDatabase, SqliteStatement } from '../../src/barrier/sqlite.ts'

/** Says how long better-sqlite3 waits for a lock where it was not told. */
const TIMEOUT_MS = 5_000

/** SQLite's names of the results that these tests meet. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
}

/**
 * A database that looks to the barrier as one of better-sqlite3 does, over Node's own SQLite: it tells of its
 * transaction by `inTransaction`, its errors have a name as `code` and no number, and a statement without rows
 * refuses to be asked for them. So the whole suites run on that look without the package, which npm would compile
 * where it installs from a lockfile. ../user-drivers compares the two looks.
 */
export class BetterSqlite3Twin implements SqliteDatabase {
  readonly #database: DatabaseSync

  constructor(path: string, options: DatabaseSyncOptions = {}) {
    this.#database = new DatabaseSync(path, { timeout: TIMEOUT_MS, ...options })
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  exec(sql: string): this {
    named(() => this.#database.exec(sql))
    return this
  }

  prepare(sql: string): SqliteStatement {
    const statement = named(() => this.#database.prepare(sql))
    const reads = statement.columns().length > 0
    const mustRead = (): void => {
      if (!reads) throw new TypeError('This statement does not return data')
    }
    return {
      run(...values) {
        return named(() => statement.run(...values))
      },
      get(...values) {
        mustRead()
        return named(() => statement.get(...values))
      },
      all(...values) {
        mustRead()
        return named(() => statement.all(...values))
      },
    }
  }

  close(): this {
    this.#database.close()
    return this
  }
}

function named<T>(call: () => T): T {
  try {
    return call()
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') throw error
    throw Object.assign(new Error(error.message), { code: NAMES[error.errcode] ?? 'SQLITE_OTHER' })
  }
}
