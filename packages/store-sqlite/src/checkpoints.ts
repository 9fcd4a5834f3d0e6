import { type Database, type Statement, sqliteCode } from './driver.ts'
import { BrokenError } from './errors.ts'

const PAGE_BYTES = 4096
/** At most: a row in random order dirties its leaf, its index leaves and their parents. */
const PAGES_PER_ROW = 4
const PAGES_BETWEEN = 8192
/** Rows in order share most of their pages. Not less, since the next ones may be in random order. */
const SHARE_MIN = 0.25

/** Moves the log into the database between batches: at some 32 MiB, at 128 where rows in order turn random. */
export class Checkpoints {
  readonly #checkpoint: Statement
  #pages = 0
  #isHurried = false
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
    this.#isHurried = true
  }

  runIfDue(): void {
    if (this.#pages * this.#share < PAGES_BETWEEN && !this.#isHurried) return
    const pages = this.#pages
    this.#pages = 0
    this.#isHurried = false
    try {
      const [[, logged] = []] = this.#checkpoint.all()
      // Few pages tell little.
      if (pages >= PAGES_BETWEEN) this.#share = Math.min(1, Math.max(SHARE_MIN, Number(logged) / pages))
    } catch (error: unknown) {
      // No room: the log keeps everything, and the next round tries again.
      if (sqliteCode(error) !== 'SQLITE_FULL') throw new BrokenError('checkpoint', error)
    }
  }
}
