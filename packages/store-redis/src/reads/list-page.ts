import {
  LIST_SCAN_MAX,
  type ListCursor,
  type ListedTransaction,
  type ListQuery,
  type ListResult,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { groupByShard } from '../shards/by-shard.ts'
import { decodeHeads } from '../shards/decode-answers.ts'
import { readHeadsCall } from '../shards/encode-calls.ts'
import { toListedTransaction } from '../shards/row-text.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { CreatedScan } from './ordered-scan.ts'

const BATCH_ROWS_MAX = 500

/** Reads until there is one match more than the page holds, which tells that there is a next page. */
export async function listPage(calls: ShardCalls, query: ListQuery): Promise<ListResult> {
  const scan = new CreatedScan(calls, query)
  const matches: ListedTransaction[] = []
  let scanned = 0
  let last: ListCursor | undefined
  while (matches.length <= query.limit && scanned < LIST_SCAN_MAX) {
    const batchRows = Math.min(BATCH_ROWS_MAX, LIST_SCAN_MAX - scanned, Math.max(query.limit + 1, scanned))
    const rows = await scan.next(batchRows)
    matches.push(...(await readListed(calls, rows)).filter((row) => isMatch(row, query)))
    scanned += rows.length
    last = rows.at(-1) ?? last
    if (rows.length < batchRows) break
  }
  const items = matches.slice(0, query.limit)
  if (matches.length > query.limit) return { items, ...cursorAt(toPlace(items.at(-1))) }
  const isCut = scanned >= LIST_SCAN_MAX && (await scan.next(1)).length > 0
  return { items, ...(isCut && cursorAt(last)) }
}

/** Keeps the order, and leaves out rows that have expired since. */
async function readListed(
  calls: ShardCalls,
  rows: readonly ListCursor[],
): Promise<readonly ListedTransaction[]> {
  const listed = new Map<Gid, ListedTransaction>()
  const reads = groupByShard(calls.shards, rows, ({ gid }) => gid).map(async ([shard, pairs]) => {
    const gids = pairs.map(({ gid }) => gid)
    const heads = decodeHeads(
      gids,
      await calls.script(shard, 'readHeads', readHeadsCall(calls.keys(shard), gids)),
    )
    gids.forEach((gid, i) => {
      const head = heads[i]
      // If the timestamp differs, it is another transaction: the gid was purged and used again meanwhile.
      if (head !== undefined && head.createdAt === pairs[i]?.at)
        listed.set(gid, toListedTransaction(gid, head))
    })
  })
  await Promise.all(reads)
  return rows.flatMap(({ gid }) => listed.get(gid) ?? [])
}

function isMatch(row: ListedTransaction, { status, kind, retrying, attention }: ListQuery): boolean {
  return (
    (status === undefined || status.includes(row.status)) &&
    (kind === undefined || row.kind === kind) &&
    (retrying === undefined || row.retrying === retrying) &&
    (attention === undefined || row.attention === attention)
  )
}

function toPlace(item: ListedTransaction | undefined): ListCursor | undefined {
  return item && { at: item.createdAt, gid: item.gid }
}

function cursorAt(row: ListCursor | undefined): { readonly cursor?: ListCursor } {
  return row === undefined ? {} : { cursor: { at: row.at, gid: row.gid } }
}
