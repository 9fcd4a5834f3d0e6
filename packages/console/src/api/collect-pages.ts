import { LIST_LIMIT_MAX, type TransactionPage, type TransactionSummary } from '@counterstep/protocol'
import { type ListFilter, toListQuery } from '../filters/list-filter.ts'
import { stringifySearch } from '../filters/search-text.ts'

/** An export has so many rows at most, since the server looks at each page by its turn. */
export const EXPORT_ROWS_MAX = 5_000
/** Pages may be short or empty, so their number is bounded too. */
const PAGES_MAX = 100

export interface CollectedRows {
  readonly rows: readonly TransactionSummary[]
  /** There may be more that match. */
  readonly isCut: boolean
}

/** Reads the page that a query such as `?limit=200` asks for. */
type ReadPage = (query: string) => Promise<TransactionPage>

/** Walks the pages of a list, up to the bound of an export. A row that moves between two pages is there once. */
export async function collectPages(filter: ListFilter, now: number, read: ReadPage): Promise<CollectedRows> {
  // All pages have the same instant, so that a cursor fits its filter.
  const query = toListQuery(filter, now)
  const rows = new Map<string, TransactionSummary>()
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const limit = String(LIST_LIMIT_MAX)
    const next = await read(stringifySearch({ ...query, limit, cursor }))
    for (const row of next.items) {
      if (rows.size === EXPORT_ROWS_MAX && !rows.has(row.gid))
        return { rows: [...rows.values()], isCut: true }
      rows.set(row.gid, row)
    }
    cursor = next.cursor
    if (cursor === undefined) return { rows: [...rows.values()], isCut: false }
  }
  return { rows: [...rows.values()], isCut: true }
}
