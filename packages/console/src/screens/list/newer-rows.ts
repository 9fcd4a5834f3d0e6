import type { TransactionSummary } from '@counterstep/protocol'

/** Counts the rows that were not there when the list was read. */
export function countNewer(
  loaded: readonly TransactionSummary[],
  newest: readonly TransactionSummary[],
): number {
  const known = new Set(loaded.map(({ gid }) => gid))
  return newest.filter(({ gid }) => !known.has(gid)).length
}

/** Shows the newest state of the rows that are there, in the order in which they are there. */
export function mergeRows(
  loaded: readonly TransactionSummary[],
  newest: readonly TransactionSummary[],
): readonly TransactionSummary[] {
  const byGid = new Map(newest.map((row) => [row.gid, row]))
  return loaded.map((row) => byGid.get(row.gid) ?? row)
}
