import type { Op } from '@counterstep/protocol'
import { findOriginOp, isOfOtherTransaction } from '@counterstep/protocol/barrier'
import type { BarrierKey } from '../../branch/barrier-key.ts'
import { needsStanding, type StandingRow, settleWithoutEffect, toNothingToUndoError } from '../decide-call.ts'
import type { BarrierTable } from '../pass-barrier.ts'
import { readStandingRow } from '../standing-row.ts'
import {
  execute,
  isContended,
  type PostgresClient,
  select,
  toTransactionLostError,
} from './postgres-client.ts'

/** The rows within the client's open transaction. `table` is quoted already. */
export function postgresRows(client: PostgresClient, table: string): BarrierTable {
  const standing = async ({ gid, branchId, barrierId }: BarrierKey): Promise<readonly StandingRow[]> => {
    const rows = await select(
      client,
      `SELECT op, reason, answer, created_at FROM ${table} WHERE gid = $1 AND branch_id = $2 AND barrier_id = $3`,
      [gid, branchId, barrierId],
    )
    return rows.map(readStandingRow)
  }
  const remove = async ({ gid, branchId, barrierId }: BarrierKey, op: Op): Promise<void> => {
    const text = `DELETE FROM ${table} WHERE gid = $1 AND branch_id = $2 AND op = $3 AND barrier_id = $4`
    const { rowCount } = await execute(client, text, [gid, branchId, op, barrierId])
    if (rowCount !== 1)
      throw toTransactionLostError('the row of an undo that has nothing to undo is gone already')
  }
  /**
   * Tells whether the origin's row belongs to another transaction. Throws `toNothingToUndoError` if it was committed
   * without its effect.
   */
  const isOriginOther = async (key: BarrierKey, undo: Op, since: number): Promise<boolean> => {
    const found = await standing(key)
    const origin = found.find(({ op }) => op === findOriginOp(undo))
    if (origin !== undefined && isOfOtherTransaction(origin, since)) return true
    settleWithoutEffect(undo, 'run', found)
    return false
  }
  return {
    standing,
    // One statement inserts both rows, in their order. It waits for another transaction's uncommitted row, and under
    // REPEATABLE READ fails with 40001 for a row that its snapshot does not show.
    insert: async (key, rows, { at, since }) => {
      const values: unknown[] = [key.gid, key.branchId, key.barrierId, at]
      const tuples = rows.map(({ op, reason }) => {
        values.push(op, reason)
        return `($1, $2, $${values.length - 1}, $3, $${values.length}, $4)`
      })
      // An undo has two rows, which come in this order. The state of the origin's row decides whether the undo's own
      // row may stay.
      let seen = 'NULL'
      if (rows.length > 1) {
        values.push(since)
        seen = `(SELECT CASE WHEN created_at < $${values.length} THEN 'other'
               WHEN answer IS NOT NULL OR reason <> op THEN 'finished' ELSE 'unfinished' END
             FROM ${table} AS origin WHERE gid = $1 AND branch_id = $2 AND barrier_id = $3 AND op = $5)`
      }
      const inserted = await select(
        client,
        `INSERT INTO ${table} (gid, branch_id, op, barrier_id, reason, created_at) VALUES ${tuples.join(', ')}
         ON CONFLICT (gid, branch_id, op, barrier_id) DO NOTHING RETURNING op, ${seen}`,
        values,
      )
      // The columns hold only what is inserted here.
      const ops = new Set(inserted.map(([op]) => op as Op))
      const undo = rows.map(({ op }) => op).find((op) => ops.has(op) && needsStanding(op, ops))
      if (undo === undefined) return ops
      const [, origin = null] = inserted[0] ?? []
      if (origin === 'unfinished') throw toNothingToUndoError(undo)
      // The subquery did not see an origin's row that the insert had to wait for.
      const isOther = origin === 'other' || (origin === null && (await isOriginOther(key, undo, since)))
      if (isOther) {
        await remove(key, undo)
        ops.delete(undo)
      }
      return ops
    },
    keepAnswer: async ({ gid, branchId, barrierId }, op, answer) => {
      const lost = 'the effect ended the transaction that it ran in, or went on after an error that did'
      const text = `UPDATE ${table} SET answer = $1 WHERE gid = $2 AND branch_id = $3 AND op = $4 AND barrier_id = $5`
      try {
        const { rowCount } = await execute(client, text, [answer, gid, branchId, op, barrierId])
        if (rowCount === 1) return
      } catch (error: unknown) {
        if (isContended(error)) throw error
        throw toTransactionLostError(lost, error)
      }
      throw toTransactionLostError(lost)
    },
  }
}
