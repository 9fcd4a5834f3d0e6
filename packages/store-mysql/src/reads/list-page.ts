import type { ListQuery, ListResult } from '@counterstep/core'
import { type LISTED_COLUMNS, type ListScan, readPage, type SCAN_END_COLUMNS } from '@counterstep/store-sql'
import { COLUMNS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { toCreatedRange, toFilters } from './list-filters.ts'
import { chooseScan } from './list-scan.ts'
import { writeList, writeListScanEnd } from './list-statements.ts'

COLUMNS.list satisfies typeof LISTED_COLUMNS
COLUMNS.listScanEnd satisfies typeof SCAN_END_COLUMNS

export function listPage(session: Session, query: ListQuery): Promise<ListResult> {
  return readPage((piece, scanRowsMax) => openScan(session, piece, scanRowsMax), query)
}

async function openScan(
  session: Session,
  query: ListQuery,
  scanRowsMax: (isFiltered: boolean) => number,
): Promise<ListScan> {
  const { order = 'created' } = query
  // The order of the accepts has this range in its scan already. Any other order filters by it what it has scanned.
  const filters = [...toFilters(query), ...(order === 'created' ? [] : toCreatedRange(query))]
  const isFiltered = filters.length > 0
  const scan = await chooseScan(session, query, scanRowsMax(isFiltered))
  return {
    isFiltered,
    readMatches: (scanned, rowsMax) => session.all(writeList(scan, filters, scanned, rowsMax)),
    readEnd: (place) => session.all(writeListScanEnd(scan, place)),
  }
}
