import { type Database, readSqliteCode, type Statement } from './driver.ts'
import { BrokenError } from './errors.ts'
import type { ReadGate } from './read-gate.ts'
import type { RunGuarded } from './run-guarded.ts'

const PAGE_BYTES = 4096
/** An upper bound: a row in random order dirties its leaf, its index leaves and their parents. */
const PAGES_PER_ROW = 4
const PAGES_BETWEEN = 8192
/** Rows in order share most of their pages. The share is never lower, since the next rows may be in random order. */
const SHARE_MIN = 0.25

/**
 * A read under way keeps the log from starting anew. On an idle machine such a read ends within a few retries at this
 * distance, on a busy machine within 2 s.
 */
const RETRY_MS = 5
const RETRIES_MAX = 400

/**
 * Moves the log into the database between batches, at about 32 MiB, or at 128 MiB if rows in order are followed by
 * random ones. Meanwhile no read begins, so that the next write can use the log from its start. If another program
 * reads the file for long, the log grows until that program has ended.
 */
export class Checkpoints {
  readonly #checkpoint: Statement
  readonly #gate: ReadGate
  readonly #runGuarded: RunGuarded
  #pages = 0
  #isHurried = false
  /** This is the real growth of the log at the last checkpoint, as a share of the counted pages. */
  #share = 1
  #retry: NodeJS.Timeout | undefined

  constructor(database: Database, gate: ReadGate, runGuarded: RunGuarded) {
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(RESTART)')
    this.#gate = gate
    this.#runGuarded = runGuarded
  }

  /**
   * Counts an upper bound of the pages that a batch has added to the log. Asking SQLite would cost a file status for
   * each batch.
   */
  countWritten(rows: number, bytes: number): void {
    this.#pages += rows * PAGES_PER_ROW + bytes / PAGE_BYTES
  }

  /**
   * Is called when there is no room. The next checkpoint then comes at once, after which the log is used from its
   * start.
   */
  hurry(): void {
    this.#isHurried = true
  }

  runIfDue(): void {
    if (this.#retry !== undefined) return
    if (this.#pages * this.#share < PAGES_BETWEEN && !this.#isHurried) return
    const pages = this.#pages
    this.#pages = 0
    this.#isHurried = false
    this.#gate.close()
    const logged = this.#run(0)
    // A share of few pages is not exact.
    if (pages >= PAGES_BETWEEN && logged !== undefined)
      this.#share = Math.min(1, Math.max(SHARE_MIN, logged / pages))
  }

  stop(): void {
    clearTimeout(this.#retry)
    this.#gate.open()
  }

  /** Returns the number of pages in the log, or undefined if there was no room. */
  #run(retries: number): number | undefined {
    this.#retry = undefined
    let isHeldUp = false
    try {
      const [[busy, logged] = []] = this.#checkpoint.all()
      isHeldUp = busy === 1 && retries < RETRIES_MAX
      return Number(logged)
    } catch (error: unknown) {
      // There was no room. The log keeps everything, and the next checkpoint tries again.
      if (readSqliteCode(error) !== 'SQLITE_FULL') throw new BrokenError('checkpoint', error)
      return undefined
    } finally {
      if (isHeldUp) this.#retry = setTimeout(() => this.#runGuarded(() => this.#run(retries + 1)), RETRY_MS)
      else this.#gate.open()
    }
  }
}
