import { type Database, readSqliteCode, type Statement } from './driver.ts'
import { BrokenError } from './errors.ts'
import type { WorkerSettings, Write, WriteResult } from './messages.ts'
import { Writes } from './writes.ts'

/** These are a write's own faults. SQLite undoes only that statement, and the transaction goes on. */
const ROW_FAULTS = ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG']
/** At COMMIT these mean that the commit record was not written whole, so a rollback is certain. */
const NOT_COMMITTED = ['SQLITE_FULL', 'SQLITE_BUSY']
/** Linux marks pages clean that failed to reach the disk, so a later flush that succeeds would prove nothing. */
const FLUSH_FAULTS = ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC']

/** Writes each batch as one database transaction. It writes all good rows or, if it throws, none. */
export class BatchWriter {
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #writes: Writes

  constructor(database: Database, settings: WorkerSettings) {
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#writes = new Writes(database, settings)
  }

  write(writes: readonly Write[], now: number): readonly WriteResult[] {
    const results = this.#beforeCommit(() => {
      this.#begin.run()
      return writes.map((write) => runRow(() => this.#writes.run(write, now)))
    })
    try {
      this.#commit.run()
    } catch (error: unknown) {
      if (!hasErrorCode(error, NOT_COMMITTED)) throw new BrokenError('COMMIT', error)
      this.#rollBack()
      throw error
    }
    return results
  }

  #beforeCommit<T>(write: () => T): T {
    try {
      return write()
    } catch (error: unknown) {
      if (hasErrorCode(error, FLUSH_FAULTS)) throw new BrokenError('flush', error)
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#rollback.run()
    } catch (error: unknown) {
      // After some faults SQLite has rolled back by itself, and reports that no transaction is open.
      if (readSqliteCode(error) !== 'SQLITE_ERROR') throw new BrokenError('ROLLBACK', error)
    }
  }
}

function runRow(write: () => WriteResult): WriteResult {
  try {
    return write()
  } catch (error: unknown) {
    const isRowFault =
      hasErrorCode(error, ROW_FAULTS) || error instanceof TypeError || error instanceof RangeError
    if (!isRowFault) throw error
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  const code = readSqliteCode(error)
  return codes.some((prefix) => code.startsWith(prefix))
}
