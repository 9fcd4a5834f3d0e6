import type { SqliteRows } from '../../barrier/sqlite/sqlite-rows.ts'
import { BranchError } from '../../branch/branch-errors.ts'
import { type GroupTable, ROWS_LOST } from '../group-table.ts'

/** These are the rows of a group. They go one by one, since a further statement costs no round trip. */
export function createSqliteGroupTable(rows: SqliteRows): GroupTable {
  return {
    insert: (wanted) =>
      new Set(
        wanted.filter(({ admitted, op, reason }) =>
          rows.insert(admitted.key, [{ op, reason }], admitted.at).has(op),
        ),
      ),
    readStanding: (calls) => new Map(calls.map(({ branch, key }) => [branch, rows.readStanding(key)])),
    keepAnswers: (kept) => {
      for (const { admitted, answer } of kept)
        assertTouched(rows.keepAnswer(admitted.key, admitted.op, answer))
    },
    remove: (calls) => {
      for (const { key, op } of calls) assertTouched(rows.remove(key, op))
    },
  }
}

function assertTouched(isThere: boolean): void {
  if (!isThere) throw new BranchError('BARRIER_TRANSACTION_LOST', ROWS_LOST)
}
