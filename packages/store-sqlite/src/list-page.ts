import {
  goesOnScanning,
  KIND_CODES,
  LIST_PIECE_ROWS,
  type ListCursor,
  type ListedTransaction,
  type ListOrder,
  type ListQuery,
  type ListResult,
  STATUS_CODES,
  toMarkBits,
  toTagParts,
  toTagWords,
} from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import { COLUMNS } from './generated/sql.ts'
import type { ListParameters, Read } from './messages.ts'
import { toListedTransaction } from './stored-row.ts'

const ROW = COLUMNS.list
/** The end of a scan is a pair: the instant by which the list is ordered, and the gid. */
const SCAN_END = COLUMNS.scanEnd
const END_OF_TIME = Number.MAX_SAFE_INTEGER

/** Reads piece by piece until the page is full, there is no further row, or a bound is met. Other reads come in between. */
export async function readPage(
  query: ListQuery,
  read: (read: Read) => Promise<readonly Row[]>,
): Promise<ListResult> {
  const { limit, order = 'created', tags } = query
  const startedAt = performance.now()
  const items: ListedTransaction[] = []
  let { cursor } = query
  let scanned = 0
  do {
    const rest = { ...query, limit: limit - items.length, ...(cursor && { cursor }) }
    const rows = await read({
      type: 'list',
      order,
      tags: toTagWords(tags),
      parameters: toListParameters(rest),
    })
    const piece = decodePage(rows, rest)
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

/** Makes the parameters of list.sql. One match more than the page holds tells whether there is a next page. */
function toListParameters(query: ListQuery): ListParameters {
  const tagParts = toTagParts(query.tags)
  return {
    createdFrom: query.createdFrom ?? 0,
    createdTo: query.createdTo ?? END_OF_TIME,
    cursorAt: query.cursor?.at ?? (query.order === 'due' ? -END_OF_TIME : END_OF_TIME),
    cursorGid: query.cursor?.gid ?? '',
    rowsMax: LIST_PIECE_ROWS,
    kind: query.kind === undefined ? null : KIND_CODES[query.kind],
    retrying: toFlag(query.retrying),
    attention: toFlag(query.attention),
    statusBits: query.status === undefined ? null : toBits(query.status),
    gidPrefix: query.gidPrefix ?? null,
    name: query.name ?? null,
    problem: query.problem ?? null,
    markBits: toMarkBits(query.marks),
    tagParts: tagParts.length === 0 ? null : JSON.stringify(tagParts),
    matchesMax: query.limit + 1,
  }
}

/** The `rows` are matches, and perhaps after them the pair at which the scan's bound has cut it short. */
function decodePage(rows: readonly Row[], { limit, order }: ListQuery): ListResult {
  const last = rows.at(-1)
  const scanEnd =
    last?.length === 2
      ? { at: Number(last[SCAN_END.scannedAt]), gid: last[SCAN_END.scannedGid] as Gid }
      : undefined
  const matches = scanEnd === undefined ? rows : rows.slice(0, -1)
  const items = matches.slice(0, limit).flatMap((row) => toListedTransaction(row) ?? [])
  const cursor = matches.length > limit ? cursorAfter(matches[limit - 1], order) : scanEnd
  return { items, ...(cursor && { cursor }) }
}

/** Reads the row and not the last item, since a row of a later version has no item. */
function cursorAfter(row: Row | undefined, order: ListOrder = 'created'): ListCursor | undefined {
  const at = order === 'created' ? ROW.createdAt : ROW.dueAt
  return row && { at: Number(row[at]), gid: row[ROW.gid] as Gid }
}

function toBits(statuses: readonly Status[]): number {
  return statuses.reduce((bits, status) => bits | (1 << STATUS_CODES[status]), 0)
}

function toFlag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value)
}
