import { type Database, type Statement, sqliteCode } from './driver.ts'
import { BrokenError } from './errors.ts'
import type { ReadGate } from './read-gate.ts'

const PAGE_BYTES = 4096
/** At most: a row in random order dirties its leaf, its index leaves and their parents. */
const PAGES_PER_ROW = 4
const PAGES_BETWEEN = 8192
/** Rows in order share most of their pages. Not less, since the next ones may be in random order. */
const SHARE_MIN = 0.25

/** A read under way keeps the log from starting anew. On an idle machine it ends within a few of these, on a busy one in 2 s. */
const RETRY_MS = 5
const RETRIES_MAX = 400

/** Runs this later in the thread, with what it throws handled as that of a message. */
export type RunGuarded = (work: () => void) => void

/**
 * Moves the log into the database between batches: at some 32 MiB, at 128 where rows in order turn random. Meanwhile no
 * read begins, so that the next write can use the log from its start. A foreign program that reads the file for long lets the log
 * grow until it has ended.
 */
export class Checkpoints {
  readonly #checkpoint: Statement
  readonly #gate: ReadGate
  readonly #runGuarded: RunGuarded
  #pages = 0
  #isHurried = false
  /** The share of that bound by which the log had really grown, the last time. */
  #share = 1
  #retry: NodeJS.Timeout | undefined

  constructor(database: Database, gate: ReadGate, runGuarded: RunGuarded) {
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(RESTART)')
    this.#gate = gate
    this.#runGuarded = runGuarded
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
    if (this.#retry !== undefined) return
    if (this.#pages * this.#share < PAGES_BETWEEN && !this.#isHurried) return
    const pages = this.#pages
    this.#pages = 0
    this.#isHurried = false
    this.#gate.close()
    const logged = this.#run(0)
    // Few pages tell little.
    if (pages >= PAGES_BETWEEN && logged !== undefined)
      this.#share = Math.min(1, Math.max(SHARE_MIN, logged / pages))
  }

  stop(): void {
    clearTimeout(this.#retry)
    this.#gate.open()
  }

  /** Returns how many pages the log held; undefined: there was no room. */
  #run(retries: number): number | undefined {
    this.#retry = undefined
    let isHeldUp = false
    try {
      const [[busy, logged] = []] = this.#checkpoint.all()
      isHeldUp = busy === 1 && retries < RETRIES_MAX
      return Number(logged)
    } catch (error: unknown) {
      // No room: the log keeps everything, and the next round tries again.
      if (sqliteCode(error) !== 'SQLITE_FULL') throw new BrokenError('checkpoint', error)
      return undefined
    } finally {
      if (isHeldUp) this.#retry = setTimeout(() => this.#runGuarded(() => this.#run(retries + 1)), RETRY_MS)
      else this.#gate.open()
    }
  }
}
