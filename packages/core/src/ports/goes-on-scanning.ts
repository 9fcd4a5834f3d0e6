import { LIST_SCAN_MAX, LIST_SCAN_MS_MAX, type ListCursor } from './store.ts'

export interface PageSoFar {
  /** Absent: there is no further row. */
  readonly cursor: ListCursor | undefined
  readonly found: number
  readonly limit: number
  readonly scanned: number
  readonly tookMs: number
}

/** Tells whether a page of a list takes another piece, or is full, at the end of the rows, or at a bound. */
export function goesOnScanning({ cursor, found, limit, scanned, tookMs }: PageSoFar): boolean {
  return cursor !== undefined && found < limit && scanned < LIST_SCAN_MAX && tookMs < LIST_SCAN_MS_MAX
}
