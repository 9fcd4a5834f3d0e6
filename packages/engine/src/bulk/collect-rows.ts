import type { ListCursor, ListQuery } from '@counterstep/core'
import { LIST_LIMIT_MAX, type TransactionSummary } from '@counterstep/protocol'
import type { ShortList } from './previewed-list.ts'

/** A collection gives up after this many pages, each of which scans a bounded number of rows. */
const PAGES_MAX = 500

/** Lists transactions as the engine does. */
export type ListRows = (
  query: ListQuery,
  caller?: string,
) => Promise<{ readonly items: readonly TransactionSummary[]; readonly cursor?: ListCursor }>

export interface Collected {
  readonly rows: readonly TransactionSummary[]
  /** There are no others that match. */
  readonly isExact: boolean
}

interface Bounds {
  readonly max: number
  /** Absent: all that match. */
  readonly wanted: ShortList | undefined
}

/** Walks the unfinished transactions that match and are wanted, those that are due first at the top. */
export async function collectRows(
  list: ListRows,
  query: Omit<ListQuery, 'limit' | 'cursor' | 'order'>,
  { max, wanted }: Bounds,
): Promise<Collected> {
  const rows = new Map<string, TransactionSummary>()
  let cursor: ListCursor | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, cursor: next } = await list({
      ...query,
      order: 'due',
      limit: LIST_LIMIT_MAX,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const item of items) {
      if (wanted?.has(item.gid) === false) continue
      if (rows.size === max && !rows.has(item.gid)) return { rows: [...rows.values()], isExact: false }
      rows.set(item.gid, item)
    }
    if (next === undefined || rows.size === wanted?.size) return { rows: [...rows.values()], isExact: true }
    cursor = next
  }
  return { rows: [...rows.values()], isExact: false }
}
