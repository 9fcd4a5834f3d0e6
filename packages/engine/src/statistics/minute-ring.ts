/** A node remembers this many minutes. */
export const MINUTES = 60
export const MINUTE_MS = 60_000

/**
 * Holds rows of counts for the last hour, one for each minute. A row is cleared when its minute comes round again, so
 * nothing has to run when a minute ends.
 */
export class MinuteRing {
  readonly #columns: number
  readonly #counts: Uint32Array
  /** The minutes since the epoch that the rows are for. */
  readonly #minutes = new Float64Array(MINUTES).fill(Number.NEGATIVE_INFINITY)

  constructor(columns: number) {
    this.#columns = columns
    this.#counts = new Uint32Array(MINUTES * columns)
  }

  /** Finds where the row of this minute begins in `counts`, and clears what an earlier hour has left there. */
  openRow(minute: number): number {
    const row = minute % MINUTES
    const start = row * this.#columns
    if (this.#minutes[row] !== minute) {
      this.#minutes[row] = minute
      this.#counts.fill(0, start, start + this.#columns)
    }
    return start
  }

  increment(minute: number, column: number): void {
    const at = this.openRow(minute) + column
    this.#counts[at] = (this.#counts[at] as number) + 1
  }

  /** Counts in two columns of one row. */
  incrementBoth(minute: number, column: number, other: number): void {
    const start = this.openRow(minute)
    const counts = this.#counts
    counts[start + column] = (counts[start + column] as number) + 1
    counts[start + other] = (counts[start + other] as number) + 1
  }

  /** Returns the row of a minute. Undefined: nothing was counted in it, or it is more than an hour ago. */
  row(minute: number): Uint32Array | undefined {
    const row = minute % MINUTES
    if (this.#minutes[row] !== minute) return undefined
    return this.#counts.subarray(row * this.#columns, (row + 1) * this.#columns)
  }

  /** Adds up the last `minutes` minutes, up to this one. */
  sum(minute: number, minutes: number): number[] {
    const sum = Array<number>(this.#columns).fill(0)
    for (let each = minute - minutes + 1; each <= minute; each++) {
      const row = this.row(each)
      if (row !== undefined) for (let at = 0; at < row.length; at++) sum[at] = (sum[at] ?? 0) + (row[at] ?? 0)
    }
    return sum
  }

  /** Tells whether nothing was counted for an hour. */
  isIdle(minute: number): boolean {
    return this.#minutes.every((each) => each <= minute - MINUTES)
  }
}
