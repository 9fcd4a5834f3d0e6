import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { BarrierKey } from '../../branch/barrier-key.ts'
import type { StandingRow } from '../decide-call.ts'
import type { BarrierTable } from '../pass-barrier.ts'
import { ROW_GONE, readStandingRow } from '../standing-row.ts'
import {
  execute,
  isDuplicateKey,
  isInTransaction,
  type MysqlConnection,
  select,
  toTransactionLostError,
} from './mysql-connection.ts'
import type { Flush } from './mysql-flush.ts'

const OF_BRANCH = 'gid = ? AND branch_id = ? AND barrier_id = ?'
const OF_ROW = `${OF_BRANCH} AND op = ?`

/** The rows within the connection's open transaction. `table` is quoted already. */
export function createMysqlRows(connection: MysqlConnection, table: string, flush: Flush): BarrierTable {
  /** Inserts a row. Resolves with whether the row is new. */
  const insertOne = async (key: BarrierKey, op: Op, reason: BarrierReason, at: number): Promise<boolean> => {
    const sql = `INSERT INTO ${table} (gid, branch_id, barrier_id, op, reason, created_at) VALUES (?, ?, ?, ?, ?, ?)`
    try {
      await execute(connection, sql, [...bytes(key.gid, key.branchId, key.barrierId, op, reason), at])
      return true
    } catch (error: unknown) {
      // InnoDB rolls back the statement alone. INSERT IGNORE would hide other errors with this one.
      if (isDuplicateKey(error)) return false
      throw error
    }
  }
  // A locking read sees what is committed now. If the caller's isolation is REPEATABLE READ, a plain read sees only
  // what was committed when the snapshot was taken, and so may miss even the row that the insert has just failed on.
  const readRows = async (where: string, values: Buffer[]): Promise<readonly StandingRow[]> => {
    const sql = `SELECT op, reason, answer, created_at FROM ${table} WHERE ${where} LOCK IN SHARE MODE`
    return (await select(connection, sql, values)).map(readStandingRow)
  }
  const readStanding = (key: BarrierKey): Promise<readonly StandingRow[]> =>
    readRows(OF_BRANCH, bytes(key.gid, key.branchId, key.barrierId))
  /** Reads one row. The whole key is named, so that only this row is locked. */
  const readOne = async (key: BarrierKey, op: Op): Promise<StandingRow | undefined> => {
    const [row] = await readRows(OF_ROW, bytes(key.gid, key.branchId, key.barrierId, op))
    return row
  }
  return {
    // An undo inserts its own row first, and then reads the row of its origin. To find that row by an insert that fails
    // would take as many statements, and the read also brings the row's answer. If there is no such row, the read locks
    // the gap beside the undo's own row, which no other call has locked.
    insert: async (key, rows, at) => {
      const ops = new Set<Op>()
      for (const { op, reason } of [...rows].reverse()) {
        const isUndone = ops.size > 0
        const origin = isUndone ? await readOne(key, op) : undefined
        if (origin !== undefined) return { ops, origin }
        if (await insertOne(key, op, reason, at)) ops.add(op)
        // The origin's row was inserted in between. The insert that failed on that row has locked it.
        else if (isUndone) return { ops, origin: await readOne(key, op) }
      }
      return { ops }
    },
    readStanding,
    // The row that this call has inserted has no answer yet. Behind a USE of the effect, one of the same key in another database may have.
    keepAnswer: async (key, op, answer) => {
      const values = bytes(answer, key.gid, key.branchId, key.barrierId, op)
      const done = await execute(
        connection,
        `UPDATE ${table} SET answer = ? WHERE ${OF_ROW} AND answer IS NULL`,
        values,
      )
      if (done.affectedRows === 1 && isInTransaction(done)) return
      throw toTransactionLostError(
        'the effect ended the transaction that it ran in, or went on after a deadlock that did',
      )
    },
    remove: async (key, op) => {
      const values = bytes(key.gid, key.branchId, key.barrierId, op)
      const { affectedRows } = await execute(connection, `DELETE FROM ${table} WHERE ${OF_ROW}`, values)
      if (affectedRows !== 1) throw toTransactionLostError(ROW_GONE)
    },
    flushStanding: () => flush(connection, table),
  }
}

// Buffers become hexadecimal literals, which no escape, `sql_mode` or connection charset can change.
function bytes(...texts: readonly string[]): Buffer[] {
  return texts.map((text) => Buffer.from(text))
}
