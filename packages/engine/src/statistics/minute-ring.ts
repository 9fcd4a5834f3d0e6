/** A node remembers this many minutes. */
export const MINUTES = 60
export const MINUTE_MS = 60_000

interface Listed {
  readonly minute: number
  readonly rows: readonly (readonly [minute: number, counts: readonly number[]])[]
}

/**
 * Holds rows of counts for the last hour, one for each minute. A row is cleared when its minute comes round again, so
 * nothing has to run when a minute ends.
 */
export class MinuteRing {
  readonly #columns: number
  readonly #counts: Uint32Array
  /** The minutes since the epoch that the rows are for. */
  readonly #minutes = new Float64Array(MINUTES).fill(Number.NEGATIVE_INFINITY)

  /** Holds the sums of the minutes before this one, under their number. */
  readonly #closed = new Map<number, { readonly minute: number; readonly sum: readonly number[] }>()

  #listed: Listed = { minute: Number.NaN, rows: [] }

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

  /**
   * Lists the minutes of the last hour in which something was counted, the oldest first, with their first counts. Those
   * that are over are kept as `sum` keeps them. A ring is always asked for as many columns.
   */
  list(minute: number, columns: number): readonly (readonly [minute: number, counts: readonly number[]])[] {
    if (this.#listed.minute !== minute) {
      const rows: (readonly [number, readonly number[]])[] = []
      for (let each = minute - MINUTES + 1; each < minute; each++) {
        const row = this.row(each)
        if (row !== undefined) rows.push([each, Array.from(row.subarray(0, columns))])
      }
      this.#listed = { minute, rows }
    }
    const row = this.row(minute)
    const { rows } = this.#listed
    return row === undefined ? rows : [...rows, [minute, Array.from(row.subarray(0, columns))]]
  }

  /**
   * Adds up the last `minutes` minutes, up to this one. The sum of those that are over is kept until the minute ends,
   * since views are made each second.
   */
  sum(minute: number, minutes: number): number[] {
    const sum = [...this.#sumClosed(minute, minutes)]
    this.#addRow(sum, minute)
    return sum
  }

  #sumClosed(minute: number, minutes: number): readonly number[] {
    const known = this.#closed.get(minutes)
    if (known?.minute === minute) return known.sum
    const sum = Array<number>(this.#columns).fill(0)
    for (let each = minute - minutes + 1; each < minute; each++) this.#addRow(sum, each)
    this.#closed.set(minutes, { minute, sum })
    return sum
  }

  #addRow(sum: number[], minute: number): void {
    const row = this.row(minute)
    if (row === undefined) return
    for (let at = 0; at < row.length; at++) sum[at] = (sum[at] as number) + (row[at] as number)
  }

  /** Tells whether nothing was counted for an hour. */
  isIdle(minute: number): boolean {
    return this.#minutes.every((each) => each <= minute - MINUTES)
  }
}
