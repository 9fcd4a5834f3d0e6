import {
  goesOnScanning,
  LIST_PIECE_ROWS,
  type ListCursor,
  type ListedTransaction,
  type ListOrder,
  type ListQuery,
  type ListResult,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { LISTED_COLUMNS, type Row, toListedTransaction, toText } from './stored-row.ts'

/** The places of the columns of the row at which a scan ends. Each store compares its statement with it. */
export const SCAN_END_COLUMNS = { createdAt: 0, dueAt: 1, gid: 2 } as const

/** A piece of a list under way. */
export interface ListScan {
  /** The query asks for more than the range of the scan, so the scan may pass over rows. */
  readonly isFiltered: boolean
  /** Returns the matches among so many rows of the scan, at most `rowsMax`. */
  readonly readMatches: (scanRowsMax: number, rowsMax: number) => Promise<readonly Row[]>
  /** Returns the row at this place of the scan, and the next one. */
  readonly readEnd: (place: number) => Promise<readonly Row[]>
}

/** Chooses the index over which a piece of the list is read. */
export type OpenScan = (query: ListQuery, scanRowsMax: (isFiltered: boolean) => number) => Promise<ListScan>

/** Reads piece by piece until the page is full, there is no further row, or a bound is met. */
export async function readPage(openScan: OpenScan, query: ListQuery): Promise<ListResult> {
  const { limit } = query
  const startedAt = performance.now()
  const items: ListedTransaction[] = []
  let { cursor } = query
  let scanned = 0
  do {
    const rest = { ...query, limit: limit - items.length, ...(cursor && { cursor }) }
    const piece = await readPiece(openScan, rest)
    items.push(...piece.items)
    cursor = piece.cursor
    scanned += LIST_PIECE_ROWS
  } while (
    goesOnScanning({
      ...{ cursor, limit, scanned },
      found: items.length,
      tookMs: performance.now() - startedAt,
    })
  )
  return { items, ...(cursor && { cursor }) }
}

/** Asks for one match more than the page holds, which tells whether there is a next page. */
async function readPiece(openScan: OpenScan, query: ListQuery): Promise<ListResult> {
  const { limit, order = 'created' } = query
  // If every row is a match, no more rows are scanned than the page needs.
  const scanRowsMax = (isFiltered: boolean) => (isFiltered ? LIST_PIECE_ROWS : limit + 1)
  const scan = await openScan(query, scanRowsMax)
  const matches = await scan.readMatches(scanRowsMax(scan.isFiltered), limit + 1)
  const items = matches.slice(0, limit).flatMap((row) => toListedTransaction(row) ?? [])
  const cursor =
    matches.length > limit
      ? toCursor(order, matches[limit - 1], LISTED_COLUMNS)
      : scan.isFiltered
        ? await findScanEnd(scan, order)
        : undefined
  return { items, ...(cursor && { cursor }) }
}

/** Finds the row at which the scan's bound has cut the scan short. */
async function findScanEnd(scan: ListScan, order: ListOrder): Promise<ListCursor | undefined> {
  const [last, next] = await scan.readEnd(LIST_PIECE_ROWS - 1)
  return next && toCursor(order, last, SCAN_END_COLUMNS)
}

type Places = Readonly<Record<'createdAt' | 'dueAt' | 'gid', number>>

/** Reads the row and not the last item, since a row of a later version has no item. */
function toCursor(order: ListOrder, row: Row | undefined, columns: Places): ListCursor | undefined {
  if (row === undefined) return undefined
  const at = Number(row[order === 'created' ? columns.createdAt : columns.dueAt])
  return { at, gid: toText(row[columns.gid]) as Gid }
}
