import { kindWord, statusWord } from './row-words.ts'
import { type StoreBooks, toStoreBooks } from './store-books.ts'

/** A row of the table of transactions, as a database returns it. */
export interface TransactionRow {
  readonly gid: string
  readonly kind: number
  readonly status: number
  readonly attention: number
}

/** One write, as a trigger has kept it. */
export interface JournalRow {
  readonly gid: string
  readonly status: number
  readonly epoch: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** A JSON list of branch ids. */
  readonly steps: string | null
  readonly lastSlot: number | null
}

/** Reads both tables. The writes are in their order. */
export function readTables(rows: readonly TransactionRow[], writes: readonly JournalRow[]): StoreBooks {
  return toStoreBooks(
    rows.map(({ gid, kind, status, attention }) => ({
      gid,
      kind: kindWord(kind),
      status: statusWord(status),
      attention: attention === 1,
    })),
    writes.map(({ gid, status, epoch, at, steps, lastSlot }) => ({
      gid,
      status: statusWord(status),
      epoch,
      at,
      steps: JSON.parse(steps ?? '[]') as readonly string[],
      lastSlot: lastSlot ?? undefined,
    })),
  )
}
