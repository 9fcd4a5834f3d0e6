import type { Op } from '@counterstep/protocol'
import {
  type BarrierReason,
  findOriginOp,
  isOfOtherTransaction,
  type RowInstants,
} from '@counterstep/protocol/barrier'
import type { BarrierKey } from '../../branch/barrier-key.ts'
import { type StandingRow, toNothingToUndoError } from '../decide-call.ts'
import type { BarrierTable } from '../pass-barrier.ts'
import { readStandingRow } from '../standing-row.ts'
import {
  execute,
  isDuplicateKey,
  isInTransaction,
  type MysqlConnection,
  type MysqlStatement,
  select,
  toTransactionLostError,
} from './mysql-connection.ts'

const OF_BRANCH = 'gid = ? AND branch_id = ? AND barrier_id = ?'

/** The rows within the connection's open transaction. `table` is quoted already. */
export function mysqlRows(connection: MysqlConnection, table: string): BarrierTable {
  /** Returns how many rows are new, or undefined if one stands already. */
  const insertNew = async (rows: string, values: MysqlStatement['values']): Promise<number | undefined> => {
    try {
      const sql = `INSERT INTO ${table} (gid, branch_id, barrier_id, op, reason, created_at) ${rows}`
      return (await execute(connection, sql, values)).affectedRows
    } catch (error: unknown) {
      // InnoDB rolls back the statement alone. INSERT IGNORE would hide other errors with this one.
      if (isDuplicateKey(error)) return undefined
      throw error
    }
  }
  const insertOne = async (key: BarrierKey, op: Op, reason: BarrierReason, at: number): Promise<boolean> => {
    const values = [...bytes(key.gid, key.branchId, key.barrierId, op, reason), at]
    return (await insertNew('VALUES (?, ?, ?, ?, ?, ?)', values)) !== undefined
  }
  // A locking read sees what is committed now. A plain one, in a caller's REPEATABLE READ, sees what was committed
  // when its snapshot was taken: not even the row that the insert has just failed on.
  const standing = async (key: BarrierKey): Promise<readonly StandingRow[]> => {
    const values = bytes(key.gid, key.branchId, key.barrierId)
    const sql = `SELECT op, reason, answer, created_at FROM ${table} WHERE ${OF_BRANCH} LOCK IN SHARE MODE`
    return (await select(connection, sql, values)).map(readStandingRow)
  }
  /**
   * Inserts the row of an undo whose origin's row stands. It does so only if the origin's effect committed, or if the
   * row blocks the origin. The insert that failed on the origin's row has locked it already.
   */
  const insertUndo = async (
    key: BarrierKey,
    op: Op,
    origin: Op,
    { at, since }: RowInstants,
  ): Promise<boolean> => {
    const rows = `SELECT gid, branch_id, barrier_id, ?, ?, ? FROM ${table}
      WHERE ${OF_BRANCH} AND op = ? AND created_at >= ? AND (answer IS NOT NULL OR reason <> op)`
    const values = [...bytes(op, op), at, ...bytes(key.gid, key.branchId, key.barrierId, origin), since]
    const inserted = await insertNew(rows, values)
    if (inserted !== 0) return inserted !== undefined
    const found = (await standing(key)).find((row) => row.op === origin)
    if (found !== undefined && isOfOtherTransaction(found, since)) return false
    // The origin's effect is missing. A row that stands gives its own answer all the same.
    if (await insertOne(key, op, op, at)) throw toNothingToUndoError(op)
    return false
  }
  return {
    insert: async (key, rows, instants) => {
      const inserted = new Set<Op>()
      for (const { op, reason } of rows) {
        const origin = findOriginOp(op)
        const isUndoing = origin !== undefined && !inserted.has(origin)
        const isNew = isUndoing
          ? await insertUndo(key, op, origin, instants)
          : await insertOne(key, op, reason, instants.at)
        if (isNew) inserted.add(op)
      }
      return inserted
    },
    standing,
    keepAnswer: async (key, op, answer) => {
      const values = bytes(answer, key.gid, key.branchId, key.barrierId, op)
      const done = await execute(
        connection,
        `UPDATE ${table} SET answer = ? WHERE ${OF_BRANCH} AND op = ?`,
        values,
      )
      if (done.affectedRows === 1 && isInTransaction(done)) return
      throw toTransactionLostError(
        'the effect ended the transaction that it ran in, or went on after a deadlock that did',
      )
    },
  }
}

// Buffers become hexadecimal literals, which no escape, `sql_mode` or connection charset can change.
function bytes(...texts: readonly string[]): Buffer[] {
  return texts.map((text) => Buffer.from(text))
}
