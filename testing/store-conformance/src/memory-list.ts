import type {
  ListCursor,
  ListedTransaction,
  ListQuery,
  ListResult,
  StoredTransaction,
} from '@counterstep/core'
import { LIST_SCAN_MAX } from '@counterstep/core'

export function listRows(rows: Iterable<StoredTransaction>, query: ListQuery): ListResult {
  const older = [...rows].filter((row) => isInRange(row, query)).sort(newestFirst)
  const scanned = older.slice(0, LIST_SCAN_MAX)
  const matches = scanned.filter((row) => isMatch(row, query))
  const page = matches.slice(0, query.limit)
  const cursor = cursorAfter(page, matches, scanned, older)
  return { items: page.map(toListed), ...(cursor && { cursor }) }
}

function cursorAfter(
  page: readonly StoredTransaction[],
  matches: readonly StoredTransaction[],
  scanned: readonly StoredTransaction[],
  older: readonly StoredTransaction[],
): ListCursor | undefined {
  const last =
    page.length < matches.length ? page.at(-1) : scanned.length < older.length ? scanned.at(-1) : undefined
  return last && { createdAt: last.createdAt, gid: last.gid }
}

function isInRange(row: StoredTransaction, { cursor, createdFrom, createdTo }: ListQuery): boolean {
  return (
    (cursor === undefined || newestFirst(cursor, row) < 0) &&
    (createdFrom === undefined || row.createdAt >= createdFrom) &&
    (createdTo === undefined || row.createdAt < createdTo)
  )
}

function isMatch(row: StoredTransaction, { status, kind, retrying, attention }: ListQuery): boolean {
  return (
    (status === undefined || status.includes(row.status)) &&
    (kind === undefined || row.kind === kind) &&
    (retrying === undefined || row.retrying === retrying) &&
    (attention === undefined || row.attention === attention)
  )
}

/** A gid is ASCII, so comparing code units compares bytes. */
function newestFirst(a: ListCursor, b: ListCursor): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.gid < b.gid ? 1 : a.gid > b.gid ? -1 : 0
}

function toListed(row: StoredTransaction): ListedTransaction {
  const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
  return { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention }
}
