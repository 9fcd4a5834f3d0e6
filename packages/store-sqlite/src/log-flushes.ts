import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { BrokenError } from './errors.ts'
import type { RunGuarded } from './run-guarded.ts'

/** The log is flushed so long after the oldest write that may not be on the disk. Class B promises to lose 2 s at most. */
const FLUSH_MS_MAX = 1_000

/** Flushes the log where SQLite itself flushes at its checkpoints alone, with synchronous NORMAL. */
export class LogFlushes {
  readonly #walPath: string
  readonly #runGuarded: RunGuarded
  #handle: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(path: string, runGuarded: RunGuarded) {
    this.#walPath = `${path}-wal`
    this.#runGuarded = runGuarded
  }

  /** Is called after each batch. */
  plan(): void {
    this.#timer ??= setTimeout(() => this.#runGuarded(() => this.#flush()), FLUSH_MS_MAX)
  }

  stop(): void {
    clearTimeout(this.#timer)
    if (this.#handle !== undefined) closeSync(this.#handle)
  }

  #flush(): void {
    this.#timer = undefined
    try {
      // SQLite holds no lock on the log, so that closing this handle ends none.
      this.#handle ??= openSync(this.#walPath, 'r+')
      fdatasyncSync(this.#handle)
    } catch (error: unknown) {
      throw new BrokenError('flush of the log', error)
    }
  }
}
