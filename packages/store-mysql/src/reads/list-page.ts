import {
  KIND_CODES,
  LIST_SCAN_MAX,
  type ListCursor,
  type ListQuery,
  type ListResult,
  STATUS_CODES,
} from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Value } from '../sessions/literal.ts'
import type { Row, Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import { toListedTransaction, toText } from './stored-row.ts'

const LIST = parseStatement(STATEMENTS.list)
const LIST_SCAN_END = parseStatement(STATEMENTS.listScanEnd)
const ROW = COLUMNS.list
const SCAN_END = COLUMNS.listScanEnd
const END_OF_TIME = Number.MAX_SAFE_INTEGER

/** One match more than the page tells whether there is a next page. */
export async function readPage(session: Session, query: ListQuery): Promise<ListResult> {
  const { limit } = query
  const range = rangeOf(query)
  const filters = filtersOf(query)
  // Where every row is a match, no more are scanned than the page needs.
  const isFiltered = filters.some((value) => value !== null)
  const scanRowsMax = isFiltered ? LIST_SCAN_MAX : Math.min(limit + 1, LIST_SCAN_MAX)
  const matches = await session.all(fill(LIST, [...range, scanRowsMax, ...filters, limit + 1]))
  const items = matches.slice(0, limit).flatMap((row) => toListedTransaction(row) ?? [])
  const cursor =
    matches.length > limit ? cursorAfter(matches[limit - 1]) : await scanEnd(session, range, isFiltered)
  return { items, ...(cursor && { cursor }) }
}

/** Where the scan's bound has cut it short. */
async function scanEnd(
  session: Session,
  range: readonly Value[],
  isFiltered: boolean,
): Promise<ListCursor | undefined> {
  if (!isFiltered) return undefined
  const [last, older] = await session.all(fill(LIST_SCAN_END, [...range, LIST_SCAN_MAX - 1]))
  if (last === undefined || older === undefined) return undefined
  return { createdAt: Number(last[SCAN_END.createdAt]), gid: toText(last[SCAN_END.gid]) as Gid }
}

/** Of the row itself, since an item of a later version is left out. */
function cursorAfter(row: Row | undefined): ListCursor | undefined {
  return row && { createdAt: Number(row[ROW.createdAt]), gid: toText(row[ROW.gid]) as Gid }
}

function rangeOf({ createdFrom = 0, createdTo = END_OF_TIME, cursor }: ListQuery): readonly Value[] {
  const cursorAt = cursor?.createdAt ?? END_OF_TIME
  return [createdFrom, createdTo, cursorAt, cursorAt, cursor?.gid ?? '']
}

/** Each filter twice: list.sql asks first whether there is one. */
function filtersOf({ kind, retrying, attention, status }: ListQuery): readonly Value[] {
  const filters = [
    kind === undefined ? null : KIND_CODES[kind],
    retrying === undefined ? null : Number(retrying),
    attention === undefined ? null : Number(attention),
    status === undefined ? null : bitsOf(status),
  ]
  return filters.flatMap((filter) => [filter, filter])
}

function bitsOf(statuses: readonly Status[]): number {
  return statuses.reduce((bits, status) => bits | (1 << STATUS_CODES[status]), 0)
}
