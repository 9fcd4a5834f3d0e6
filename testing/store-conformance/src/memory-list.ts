import type { ListCursor, ListOrder, ListQuery, ListResult, StoredTransaction } from '@counterstep/core'
import { LIST_SCAN_MAX, toListed } from '@counterstep/core'
import { isLive } from './memory-row.ts'

export function listRows(rows: Iterable<StoredTransaction>, query: ListQuery): ListResult {
  const { order = 'created', limit } = query
  const compare = (a: StoredTransaction, b: StoredTransaction) =>
    comparePlaces(order, toCursor(order, a), toCursor(order, b))
  const ordered = [...rows].filter((row) => isInRange(row, query)).sort(compare)
  const scanned = ordered.slice(0, LIST_SCAN_MAX)
  const matches = scanned.filter((row) => isMatch(row, query))
  const page = matches.slice(0, limit)
  const last =
    page.length < matches.length ? page.at(-1) : scanned.length < ordered.length ? scanned.at(-1) : undefined
  return { items: page.map(toListed), ...(last && { cursor: toCursor(order, last) }) }
}

function toCursor(order: ListOrder, { gid, createdAt, dueAt }: StoredTransaction): ListCursor {
  return { at: order === 'created' ? createdAt : dueAt, gid }
}

/** A gid is ASCII, so comparing code units compares bytes. */
function comparePlaces(order: ListOrder, a: ListCursor, b: ListCursor): number {
  const upward = a.at !== b.at ? a.at - b.at : a.gid < b.gid ? -1 : a.gid > b.gid ? 1 : 0
  return order === 'due' ? upward : -upward
}

/** Only what bounds the scan is judged here: in the order `due` the time of creation filters what was scanned. */
function isInRange(row: StoredTransaction, query: ListQuery): boolean {
  const { cursor, order = 'created' } = query
  if (cursor !== undefined && comparePlaces(order, cursor, toCursor(order, row)) >= 0) return false
  return order === 'created' ? isCreatedWithin(row, query) && hasTags(row, query) : isLive(row)
}

function hasTags(row: StoredTransaction, { tags = {} }: ListQuery): boolean {
  return Object.entries(tags).every(([key, value]) => row.tags?.[key] === value)
}

function isCreatedWithin(row: StoredTransaction, { createdFrom, createdTo }: ListQuery): boolean {
  return (
    (createdFrom === undefined || row.createdAt >= createdFrom) &&
    (createdTo === undefined || row.createdAt < createdTo)
  )
}

function isMatch(row: StoredTransaction, query: ListQuery): boolean {
  const { status, kind, retrying, attention, name, problem, marks = [], gidPrefix = '' } = query
  return (
    (status === undefined || status.includes(row.status)) &&
    (kind === undefined || row.kind === kind) &&
    (retrying === undefined || row.retrying === retrying) &&
    (attention === undefined || row.attention === attention) &&
    (name === undefined || row.name === name) &&
    (problem === undefined || row.problem === problem) &&
    hasTags(row, query) &&
    marks.every((mark) => row.marks?.includes(mark)) &&
    row.gid.startsWith(gidPrefix) &&
    isCreatedWithin(row, query)
  )
}
