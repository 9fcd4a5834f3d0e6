import type { Op } from '@counterstep/protocol'
import type { BarrierRow } from '@counterstep/protocol/barrier'
import type { BarrierKey } from '../../branch/barrier-key.ts'
import type { StandingRow } from '../decide-call.ts'
import { readCells, type SqliteDatabase } from './sqlite-database.ts'

/** The rows of one table, synchronous as SQLite is. */
export interface SqliteRows {
  insert(key: BarrierKey, rows: readonly BarrierRow[], at: number): ReadonlySet<Op>
  readStanding(key: BarrierKey): readonly StandingRow[]
  /** Returns false if the row is gone. */
  keepAnswer(key: BarrierKey, op: Op, answer: string): boolean
  /** Returns false if there was no such row. */
  remove(key: BarrierKey, op: Op): boolean
}

/** Statements are prepared at the first call, so that a barrier can be made before its table is. */
export function createSqliteRows(database: SqliteDatabase, table: string): SqliteRows {
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const ready = (): ReturnType<typeof prepareStatements> => {
    prepared ??= prepareStatements(database, table)
    return prepared
  }
  return {
    insert: ({ gid, branchId, barrierId }, rows, at) =>
      new Set(
        rows
          .filter(
            (row) =>
              Number(ready().insert.run(gid, branchId, row.op, barrierId, row.reason, at).changes) === 1,
          )
          .map((row) => row.op),
      ),
    readStanding: ({ gid, branchId, barrierId }) =>
      ready()
        .standing.all(gid, branchId, barrierId)
        .map((row) => toStandingRow(readCells(row))),
    keepAnswer: ({ gid, branchId, barrierId }, op, answer) =>
      Number(ready().keep.run(answer, gid, branchId, op, barrierId).changes) === 1,
    remove: ({ gid, branchId, barrierId }, op) =>
      Number(ready().remove.run(gid, branchId, op, barrierId).changes) === 1,
  }
}

// The statement names the columns in this order, and they hold only values that this file inserted.
function toStandingRow([op, reason, answer, createdAt]: readonly unknown[]): StandingRow {
  return {
    op: op as Op,
    reason: reason as StandingRow['reason'],
    answer: typeof answer === 'string' ? answer : null,
    createdAt: Number(createdAt),
  }
}

function prepareStatements(database: SqliteDatabase, table: string) {
  return {
    insert: database.prepare(
      `INSERT INTO ${table} (gid, branch_id, op, barrier_id, reason, created_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (gid, branch_id, op, barrier_id) DO NOTHING`,
    ),
    standing: database.prepare(
      `SELECT op, reason, answer, created_at FROM ${table} WHERE gid = ? AND branch_id = ? AND barrier_id = ?`,
    ),
    keep: database.prepare(
      `UPDATE ${table} SET answer = ? WHERE gid = ? AND branch_id = ? AND op = ? AND barrier_id = ?`,
    ),
    remove: database.prepare(
      `DELETE FROM ${table} WHERE gid = ? AND branch_id = ? AND op = ? AND barrier_id = ?`,
    ),
  }
}
