import {
  LIST_PIECE_ROWS,
  LIST_SCAN_MAX,
  LIST_SCAN_MS_MAX,
  type ListCursor,
  type ListedTransaction,
  type ListOrder,
  type ListQuery,
  type ListResult,
  toTagWords,
} from '@counterstep/core'
import { toListedTransaction } from '../shards/row-text.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { isMatch } from './is-match.ts'
import { OrderedScan } from './ordered-scan.ts'
import { readHeads } from './read-heads.ts'
import { findRarest } from './tag-members.ts'

/**
 * Reads until there is one match more than the page holds, which tells that there is a next page, or until a bound is met. The
 * first pieces are small, since one of them mostly fills the page.
 */
export async function listPage(calls: ShardCalls, query: ListQuery): Promise<ListResult> {
  const { order = 'created', limit } = query
  const startedAt = performance.now()
  const tag = order === 'created' ? await findRarest(calls, toTagWords(query.tags)) : undefined
  const scan = new OrderedScan(calls, { ...query, ...(tag !== undefined && { tag }) })
  const matches: ListedTransaction[] = []
  let scanned = 0
  let last: ListCursor | undefined
  let isEnd = false
  while (
    !isEnd &&
    matches.length <= limit &&
    scanned < LIST_SCAN_MAX &&
    (scanned === 0 || performance.now() - startedAt < LIST_SCAN_MS_MAX)
  ) {
    const batchRows = Math.min(LIST_PIECE_ROWS, LIST_SCAN_MAX - scanned, Math.max(limit + 1, scanned))
    const rows = await scan.next(batchRows)
    matches.push(...(await readListed(calls, order, rows)).filter((row) => isMatch(row, query)))
    scanned += rows.length
    last = rows.at(-1) ?? last
    isEnd = rows.length < batchRows
  }
  const items = matches.slice(0, limit)
  const end = items.at(-1)
  if (matches.length > limit)
    return { items, ...cursorAt(end && { at: readInstant(order, end), gid: end.gid }) }
  const isCut = !isEnd && (await scan.next(1)).length > 0
  return { items, ...(isCut && cursorAt(last)) }
}

/** Keeps the order, and leaves out rows that have expired or moved since. */
async function readListed(
  calls: ShardCalls,
  order: ListOrder,
  rows: readonly ListCursor[],
): Promise<readonly ListedTransaction[]> {
  const heads = await readHeads(calls, rows)
  return rows.flatMap((row) => {
    const head = heads.get(row.gid)
    // If the time of creation differs, it is another transaction: the gid was purged and used again meanwhile.
    if (head === undefined || readInstant(order, head) !== row.at) return []
    return [toListedTransaction(row.gid, head)]
  })
}

function readInstant(
  order: ListOrder,
  { createdAt, dueAt }: Pick<ListedTransaction, 'createdAt' | 'dueAt'>,
): number {
  return order === 'created' ? createdAt : dueAt
}

function cursorAt(row: ListCursor | undefined): { readonly cursor?: ListCursor } {
  return row === undefined ? {} : { cursor: { at: row.at, gid: row.gid } }
}
