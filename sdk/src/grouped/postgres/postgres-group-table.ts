import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { StandingRow } from '../../barrier/decide-call.ts'
import {
  execute,
  isContended,
  type PostgresClient,
  select,
  toTransactionLostError,
} from '../../barrier/postgres/postgres-client.ts'
import { toBranchText } from '../admit-call.ts'
import type { AdmittedCall } from '../group-barrier.ts'
import { type GroupTable, ROWS_LOST } from '../group-table.ts'

/** The rows of a group within the client's open transaction. `table` is quoted already. */
export function createPostgresGroupTable(client: PostgresClient, table: string): GroupTable {
  const touch = async (text: string, values: unknown[], rows: number): Promise<void> => {
    try {
      const { rowCount } = await execute(client, text, values)
      if (rowCount === rows) return
    } catch (error: unknown) {
      if (isContended(error)) throw error
      throw toTransactionLostError(ROWS_LOST, error)
    }
    throw toTransactionLostError(ROWS_LOST)
  }
  return {
    insert: async (rows) => {
      const values = [
        ...toKeyColumns(rows.map(({ admitted }) => admitted)),
        rows.map(({ op }) => op),
        rows.map(({ reason }) => reason),
        rows.map(({ admitted }) => admitted.at),
      ]
      const inserted = await select(
        client,
        `INSERT INTO ${table} (gid, branch_id, barrier_id, op, reason, created_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
         ON CONFLICT (gid, branch_id, op, barrier_id) DO NOTHING RETURNING gid, branch_id, barrier_id, op`,
        values,
      )
      const found = new Set(inserted.map((row) => row.join('\0')))
      return new Set(rows.filter(({ admitted, op }) => found.has(`${admitted.branch}\0${op}`)))
    },
    // The lock makes the COMMIT wait for the standby, as for a single call.
    readStanding: async (calls) => {
      const rows = await select(
        client,
        `SELECT gid, branch_id, barrier_id, op, reason, answer, created_at
         FROM unnest($1::text[], $2::text[], $3::text[]) AS called (gid, branch_id, barrier_id)
           JOIN ${table} AS standing USING (gid, branch_id, barrier_id)
         FOR KEY SHARE OF standing`,
        toKeyColumns(calls),
      )
      return groupByBranch(rows)
    },
    keepAnswers: (kept) =>
      touch(
        `UPDATE ${table} AS standing SET answer = given.answer
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
           AS given (gid, branch_id, barrier_id, op, answer)
         WHERE standing.gid = given.gid AND standing.branch_id = given.branch_id AND standing.op = given.op
           AND standing.barrier_id = given.barrier_id`,
        [
          ...toKeyColumns(kept.map(({ admitted }) => admitted)),
          kept.map(({ admitted }) => admitted.op),
          kept.map(({ answer }) => answer),
        ],
        kept.length,
      ),
    remove: (calls) =>
      touch(
        `DELETE FROM ${table} AS standing
         USING unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (gid, branch_id, barrier_id, op)
         WHERE standing.gid = given.gid AND standing.branch_id = given.branch_id AND standing.op = given.op
           AND standing.barrier_id = given.barrier_id`,
        [...toKeyColumns(calls), calls.map(({ op }) => op)],
        calls.length,
      ),
  }
}

function toKeyColumns(calls: readonly AdmittedCall[]): unknown[] {
  return [
    calls.map(({ key }) => key.gid),
    calls.map(({ key }) => key.branchId),
    calls.map(({ key }) => key.barrierId),
  ]
}

function groupByBranch(
  rows: readonly (readonly (string | null)[])[],
): ReadonlyMap<string, readonly StandingRow[]> {
  const found = new Map<string, StandingRow[]>()
  for (const [gid, branchId, barrierId, op, reason, answer, createdAt] of rows) {
    const branch = toBranchText(String(gid), String(branchId), String(barrierId))
    const row = {
      op: op as Op,
      reason: reason as BarrierReason,
      answer: answer ?? null,
      createdAt: Number(createdAt),
    }
    const known = found.get(branch)
    if (known === undefined) found.set(branch, [row])
    else known.push(row)
  }
  return found
}
