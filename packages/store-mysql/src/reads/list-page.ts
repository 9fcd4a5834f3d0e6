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
import { COLUMNS } from '../generated/sql.ts'
import type { Row, Session } from '../sessions/session.ts'
import { toCreatedRange, toFilters } from './list-filters.ts'
import { chooseScan } from './list-scan.ts'
import { type Scan, writeList, writeListScanEnd } from './list-statements.ts'
import { toListedTransaction, toText } from './stored-row.ts'

const ROW = COLUMNS.list
const SCAN_END = COLUMNS.listScanEnd

/** Reads piece by piece until the page is full, there is no further row, or a bound is met. */
export async function readPage(session: Session, query: ListQuery): Promise<ListResult> {
  const { limit } = query
  const startedAt = performance.now()
  const items: ListedTransaction[] = []
  let { cursor } = query
  let scanned = 0
  do {
    const rest = { ...query, limit: limit - items.length, ...(cursor && { cursor }) }
    const piece = await readPiece(session, rest)
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
async function readPiece(session: Session, query: ListQuery): Promise<ListResult> {
  const { limit, order = 'created' } = query
  // The order of the accepts has this range in its scan already. Any other order filters by it what it has scanned.
  const filters = [...toFilters(query), ...(order === 'created' ? [] : toCreatedRange(query))]
  // If every row is a match, no more rows are scanned than the page needs.
  const isFiltered = filters.length > 0
  const scanRowsMax = isFiltered ? LIST_PIECE_ROWS : limit + 1
  const scan = await chooseScan(session, query, scanRowsMax)
  const matches = await session.all(writeList(scan, filters, scanRowsMax, limit + 1))
  const items = matches.slice(0, limit).flatMap((row) => toListedTransaction(row) ?? [])
  const cursor =
    matches.length > limit
      ? toCursor(order, matches[limit - 1], ROW)
      : isFiltered
        ? await findScanEnd(session, scan)
        : undefined
  return { items, ...(cursor && { cursor }) }
}

/** Finds the row at which the scan's bound has cut the scan short. */
async function findScanEnd(session: Session, scan: Scan): Promise<ListCursor | undefined> {
  const [last, next] = await session.all(writeListScanEnd(scan, LIST_PIECE_ROWS - 1))
  return next && toCursor(scan.order, last, SCAN_END)
}

type Places = Readonly<Record<'createdAt' | 'dueAt' | 'gid', number>>

/** Reads the row and not the last item, since a row of a later version has no item. */
function toCursor(order: ListOrder, row: Row | undefined, columns: Places): ListCursor | undefined {
  if (row === undefined) return undefined
  const at = Number(row[order === 'created' ? columns.createdAt : columns.dueAt])
  return { at, gid: toText(row[columns.gid]) as Gid }
}
