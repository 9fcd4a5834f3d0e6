import { type BigIntStats, statSync } from 'node:fs'
import { BrokenError } from './errors.ts'
import { DATABASE_BYTE, HeldLock, INDEX_BYTE } from './held-lock.ts'

/**
 * The database and its log while they are open. On POSIX systems a file that was removed or replaced stays open, and SQLite
 * goes on writing to it: all that is acknowledged from then on would be gone with the process.
 */
export class OpenFiles {
  readonly #seen = new Map<string, BigIntStats>()
  readonly #walPath: string
  readonly #walBytesKept: bigint
  readonly #locks: readonly HeldLock[]

  /** The log shrinks by itself to `walBytesKept`, and never below. */
  constructor(path: string, walBytesKept: number) {
    this.#walPath = `${path}-wal`
    this.#walBytesKept = BigInt(walBytesKept)
    for (const place of [path, this.#walPath]) {
      const stats = readStats(place)
      if (stats !== undefined) this.#seen.set(place, stats)
    }
    const locks = [HeldLock.find(path, DATABASE_BYTE), HeldLock.find(`${path}-shm`, INDEX_BYTE)]
    this.#locks = locks.filter((lock) => lock !== undefined)
  }

  /**
   * Throws BrokenError if SQLite's locks on the files have ended. Another process that opens the database from then on
   * takes it for its own: it cuts the log's index, and removes the log when it closes.
   */
  assertLocked(): void {
    for (const lock of this.#locks) lock.assertHeld()
  }

  close(): void {
    for (const lock of this.#locks) lock.close()
  }

  /** Throws BrokenError if a file was removed or replaced, or if the log was cut. */
  assertInPlace(): void {
    for (const [place, before] of this.#seen) {
      const now = readStats(place)
      if (now === undefined) throw createError(place, 'was removed')
      if (now.ino !== before.ino || now.dev !== before.dev) throw createError(place, 'was replaced')
      if (place !== this.#walPath) continue
      if (now.size < before.size && now.size < this.#walBytesKept) throw createError(place, 'was cut')
      this.#seen.set(place, now)
    }
  }
}

function readStats(place: string): BigIntStats | undefined {
  return statSync(place, { bigint: true, throwIfNoEntry: false })
}

function createError(place: string, what: string): BrokenError {
  return new BrokenError(`${place} ${what}`, 'what is written to it would be lost')
}
