import {
  KIND_CODES,
  LIST_SCAN_MAX,
  type ListCursor,
  type ListQuery,
  type ListResult,
  STATUS_CODES,
} from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import type { ListParameters } from './messages.ts'
import { listedTransaction } from './stored-row.ts'

const END_OF_TIME = Number.MAX_SAFE_INTEGER

/** The parameters of list.sql. One match more than the page tells whether there is a next page. */
export function listParameters(query: ListQuery): ListParameters {
  return {
    createdFrom: query.createdFrom ?? 0,
    createdTo: query.createdTo ?? END_OF_TIME,
    cursorAt: query.cursor?.createdAt ?? END_OF_TIME,
    cursorGid: query.cursor?.gid ?? '',
    scanRowsMax: LIST_SCAN_MAX,
    kind: query.kind === undefined ? null : KIND_CODES[query.kind],
    retrying: flag(query.retrying),
    attention: flag(query.attention),
    statusBits: query.status === undefined ? null : bitsOf(query.status),
    matchesMax: query.limit + 1,
  }
}

/** `rows` are matches, and then perhaps the pair at which the scan's bound cut it short. */
export function decodePage(rows: readonly Row[], limit: number): ListResult {
  const last = rows.at(-1)
  const scanEnd = last?.length === 2 ? { createdAt: Number(last[0]), gid: last[1] as Gid } : undefined
  const matches = scanEnd === undefined ? rows : rows.slice(0, -1)
  const items = matches.slice(0, limit).flatMap((row) => listedTransaction(row) ?? [])
  const cursor = matches.length > limit ? cursorAfter(matches[limit - 1]) : scanEnd
  return { items, ...(cursor && { cursor }) }
}

/** Of the row itself, since an item of a later version is left out. */
function cursorAfter(row: Row | undefined): ListCursor | undefined {
  return row && { createdAt: Number(row[3]), gid: row[0] as Gid }
}

function bitsOf(statuses: readonly Status[]): number {
  return statuses.reduce((bits, status) => bits | (1 << STATUS_CODES[status]), 0)
}

function flag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value)
}
