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

/** Asks for one match more than the page holds, which tells whether there is a next page. */
export async function readPage(session: Session, query: ListQuery): Promise<ListResult> {
  const { limit } = query
  const range = toRange(query)
  const filters = toFilters(query)
  // If every row is a match, no more rows are scanned than the page needs.
  const isFiltered = filters.some((value) => value !== null)
  const scanRowsMax = isFiltered ? LIST_SCAN_MAX : Math.min(limit + 1, LIST_SCAN_MAX)
  const matches = await session.all(fill(LIST, [...range, scanRowsMax, ...filters, limit + 1]))
  const items = matches.slice(0, limit).flatMap((row) => toListedTransaction(row) ?? [])
  const cursor =
    matches.length > limit ? cursorAfter(matches[limit - 1]) : await findScanEnd(session, range, isFiltered)
  return { items, ...(cursor && { cursor }) }
}

/** Finds the row at which the scan's bound has cut the scan short. */
async function findScanEnd(
  session: Session,
  range: readonly Value[],
  isFiltered: boolean,
): Promise<ListCursor | undefined> {
  if (!isFiltered) return undefined
  const [last, older] = await session.all(fill(LIST_SCAN_END, [...range, LIST_SCAN_MAX - 1]))
  if (last === undefined || older === undefined) return undefined
  return { at: Number(last[SCAN_END.createdAt]), gid: toText(last[SCAN_END.gid]) as Gid }
}

/** Reads the row and not the last item, since a row of a later version has no item. */
function cursorAfter(row: Row | undefined): ListCursor | undefined {
  return row && { at: Number(row[ROW.createdAt]), gid: toText(row[ROW.gid]) as Gid }
}

function toRange({ createdFrom = 0, createdTo = END_OF_TIME, cursor }: ListQuery): readonly Value[] {
  const cursorAt = cursor?.at ?? END_OF_TIME
  return [createdFrom, createdTo, cursorAt, cursorAt, cursor?.gid ?? '']
}

/** Each filter stands twice, because list.sql asks first whether there is one. */
function toFilters({ kind, retrying, attention, status }: ListQuery): readonly Value[] {
  const filters = [
    kind === undefined ? null : KIND_CODES[kind],
    retrying === undefined ? null : Number(retrying),
    attention === undefined ? null : Number(attention),
    status === undefined ? null : toBits(status),
  ]
  return filters.flatMap((filter) => [filter, filter])
}

function toBits(statuses: readonly Status[]): number {
  return statuses.reduce((bits, status) => bits | (1 << STATUS_CODES[status]), 0)
}
