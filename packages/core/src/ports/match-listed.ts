import type { ListedTransaction, ListQuery } from './store.ts'

/** Whether a row passes the filters of a list. The order and the cursor are not looked at. */
export function matchesFilters(row: ListedTransaction, query: ListQuery): boolean {
  return matchesState(row, query) && matchesWords(row, query)
}

function matchesState(
  row: ListedTransaction,
  { status, kind, retrying, attention, createdFrom, createdTo }: ListQuery,
): boolean {
  return (
    (status === undefined || status.includes(row.status)) &&
    (kind === undefined || row.kind === kind) &&
    (retrying === undefined || row.retrying === retrying) &&
    (attention === undefined || row.attention === attention) &&
    (createdFrom === undefined || row.createdAt >= createdFrom) &&
    (createdTo === undefined || row.createdAt < createdTo)
  )
}

function matchesWords(
  row: ListedTransaction,
  { name, problem, tags = {}, marks = [], gidPrefix = '' }: ListQuery,
): boolean {
  return (
    (name === undefined || row.name === name) &&
    (problem === undefined || row.problem === problem) &&
    Object.entries(tags).every(([key, value]) => row.tags?.[key] === value) &&
    marks.every((mark) => row.marks?.includes(mark)) &&
    row.gid.startsWith(gidPrefix)
  )
}
