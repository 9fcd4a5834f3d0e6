import { StoreUnavailableError } from '@counterstep/core'

/** A purge asks for so many rows at most. Rows may have 1 MB each, and one write of SQLite deletes them while others wait. */
export const PURGE_ROWS_MAX = 128

/** A call that fails is tried again with so many times fewer rows, and later ones ask for as many times more. */
const STEP = 4
/** A limit that is too high costs the time limit of a statement and its rollback, so it is only raised after so many answers. */
const ANSWERS_BEFORE_MORE = 16

/**
 * Says how many rows one call of a store asks for. A store has a time limit for a statement, within which it may change a
 * hundred small rows and not as many of 1 MB. The same number again would fail for ever.
 */
export class RowLimit {
  readonly #max: number
  #rows: number
  #answers = 0

  constructor(max: number) {
    this.#max = max
    this.#rows = max
  }

  /**
   * Calls with as many rows as may be asked for, and tries again with fewer each time the store is unavailable. It throws
   * that error if it was about a single row, or if `mayRetry` forbids a further call.
   */
  async ask<T>(
    call: (rows: number) => Promise<T>,
    mayRetry: () => boolean,
  ): Promise<{ readonly rows: number; readonly answer: T }> {
    for (;;) {
      const rows = this.#rows
      try {
        const answer = await call(rows)
        if (++this.#answers >= ANSWERS_BEFORE_MORE) this.raise()
        return { rows, answer }
      } catch (error: unknown) {
        if (!(error instanceof StoreUnavailableError)) throw error
        this.#setRows(Math.ceil(rows / STEP))
        if (rows === 1 || !mayRetry()) throw error
      }
    }
  }

  /** Lets the next call ask for more rows. */
  raise(): void {
    this.#setRows(Math.min(this.#rows * STEP, this.#max))
  }

  #setRows(rows: number): void {
    this.#rows = rows
    this.#answers = 0
  }
}
