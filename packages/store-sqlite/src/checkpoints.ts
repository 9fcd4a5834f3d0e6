import { type Database, type Statement, sqliteCode } from './driver.ts'
import { BrokenError } from './errors.ts'

const PAGE_BYTES = 4096
/** At most: a row in random order dirties its leaf, its index leaves and their parents. */
const PAGES_PER_ROW = 4
const PAGES_BETWEEN = 8192
/** Rows in order share most of their pages. Not less, since the next ones may be in random order. */
const SHARE_MIN = 0.25

/** Moves the log into the database between batches, before the log grows past some 32 MiB. */
export class Checkpoints {
  readonly #checkpoint: Statement
  #pages = 0
  /** How much of that bound the log has really grown by, the last time. */
  #share = 1

  constructor(database: Database) {
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  }

  /** Counts an upper bound of what a batch has added to the log; asking SQLite would cost a file status a batch. */
  wrote(rows: number, bytes: number): void {
    this.#pages += rows * PAGES_PER_ROW + bytes / PAGE_BYTES
  }

  /** No room: what the log holds is moved, and the next write may use the log from its start. */
  hurry(): void {
    this.#pages = Number.POSITIVE_INFINITY
  }

  runIfDue(): void {
    if (this.#pages * this.#share < PAGES_BETWEEN) return
    const pages = this.#pages
    this.#pages = 0
    try {
      const [[, logged] = []] = this.#checkpoint.all()
      this.#share = Math.min(1, Math.max(SHARE_MIN, Number(logged) / pages))
    } catch (error: unknown) {
      // No room: the log keeps everything, and the next round tries again.
      if (sqliteCode(error) !== 'SQLITE_FULL') throw new BrokenError('checkpoint', error)
    }
  }
}
