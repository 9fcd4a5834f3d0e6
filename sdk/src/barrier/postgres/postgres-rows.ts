import type { Op } from '@counterstep/protocol'
import type { BarrierTable } from '../pass-barrier.ts'
import { ROW_GONE, readStandingRow } from '../standing-row.ts'
import {
  execute,
  isContended,
  type PostgresClient,
  select,
  toTransactionLostError,
} from './postgres-client.ts'

/** The rows within the client's open transaction. `table` is quoted already. */
export function createPostgresRows(client: PostgresClient, table: string): BarrierTable {
  return {
    // The lock makes the COMMIT that follows wait for the standby, if there is one. The row may be one whose own COMMIT has
    // not waited to its end, because the server crashed meanwhile, and a failover must not take what is answered now.
    readStanding: async ({ gid, branchId, barrierId }) => {
      const rows = await select(
        client,
        `SELECT op, reason, answer, created_at FROM ${table} WHERE gid = $1 AND branch_id = $2 AND barrier_id = $3
         FOR KEY SHARE`,
        [gid, branchId, barrierId],
      )
      return rows.map(readStandingRow)
    },
    // One statement inserts both rows, in their order. It waits for another transaction's uncommitted row. Under
    // REPEATABLE READ it fails with 40001 if it meets a row that its snapshot does not show.
    insert: async (key, rows, at) => {
      const values: unknown[] = [key.gid, key.branchId, key.barrierId, at]
      const tuples = rows.map(({ op, reason }) => {
        values.push(op, reason)
        return `($1, $2, $${values.length - 1}, $3, $${values.length}, $4)`
      })
      const into = `INSERT INTO ${table} (gid, branch_id, op, barrier_id, reason, created_at) VALUES ${tuples.join(', ')}
         ON CONFLICT (gid, branch_id, op, barrier_id) DO NOTHING RETURNING op`
      const [origin, own] = rows
      // The columns hold only what is inserted here.
      if (origin === undefined || own === undefined)
        return { ops: new Set((await select(client, into, values)).map(([op]) => op as Op)) }
      const inserted = await select(
        client,
        `WITH origin AS (SELECT reason, answer, created_at
           FROM ${table} WHERE gid = $1 AND branch_id = $2 AND barrier_id = $3 AND op = $5)
         ${into}, (SELECT reason FROM origin), (SELECT answer FROM origin), (SELECT created_at FROM origin)`,
        values,
      )
      const ops = new Set(inserted.map(([op]) => op as Op))
      // The SELECT shows the rows that stood before the statement. It shows neither the rows that the statement inserts
      // nor rows that the insert had to wait for.
      const [, reason, answer = null, createdAt = null] = inserted[0] ?? []
      if (reason === null || reason === undefined) return { ops }
      return { ops, origin: readStandingRow([origin.op, reason, answer, createdAt]) }
    },
    keepAnswer: async ({ gid, branchId, barrierId }, op, answer) => {
      const lost = 'the effect ended the transaction that it ran in, or went on after an error that did'
      const text = `UPDATE ${table} SET answer = $1 WHERE gid = $2 AND branch_id = $3 AND op = $4 AND barrier_id = $5 AND answer IS NULL`
      try {
        const { rowCount } = await execute(client, text, [answer, gid, branchId, op, barrierId])
        if (rowCount === 1) return
      } catch (error: unknown) {
        if (isContended(error)) throw error
        throw toTransactionLostError(lost, error)
      }
      throw toTransactionLostError(lost)
    },
    remove: async ({ gid, branchId, barrierId }, op) => {
      const text = `DELETE FROM ${table} WHERE gid = $1 AND branch_id = $2 AND op = $3 AND barrier_id = $4`
      const { rowCount } = await execute(client, text, [gid, branchId, op, barrierId])
      if (rowCount !== 1) throw toTransactionLostError(ROW_GONE)
    },
  }
}
