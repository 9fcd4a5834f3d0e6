import type { ListedTransaction, ListQuery } from '@counterstep/core'

export function isMatch(row: ListedTransaction, query: ListQuery): boolean {
  const { status, kind, retrying, attention } = query
  return (
    (status === undefined || status.includes(row.status)) &&
    (kind === undefined || row.kind === kind) &&
    (retrying === undefined || row.retrying === retrying) &&
    (attention === undefined || row.attention === attention) &&
    hasWords(row, query) &&
    isCreatedWithin(row, query)
  )
}

function hasWords(
  row: ListedTransaction,
  { name, problem, tags, marks, gidPrefix = '' }: ListQuery,
): boolean {
  return (
    (name === undefined || row.name === name) &&
    (problem === undefined || row.problem === problem) &&
    (tags === undefined || Object.entries(tags).every(([key, value]) => row.tags?.[key] === value)) &&
    (marks === undefined || marks.every((mark) => row.marks?.includes(mark))) &&
    row.gid.startsWith(gidPrefix)
  )
}

/** The order of the accepts has this range in its scan already. */
function isCreatedWithin({ createdAt }: ListedTransaction, { createdFrom, createdTo }: ListQuery): boolean {
  return (
    (createdFrom === undefined || createdAt >= createdFrom) &&
    (createdTo === undefined || createdAt < createdTo)
  )
}
