import type { Lease, RenewResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Tx, Work } from './database-transactions.ts'
import { STATEMENTS } from './generated/sql.ts'
import { fillFrom, fillRows, rowsStatementOf } from './statement.ts'
import { textOf } from './stored-row.ts'

const RENEW = rowsStatementOf(STATEMENTS.renew)
const READ_RENEWED = rowsStatementOf(STATEMENTS.readRenewed)

export async function renewLeases(
  { session, now }: Tx,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<Work<RenewResult>> {
  if (leases.length === 0) return { value: { now, renewed: [], lost: [] }, rows: 0 }
  // In key order, as the flushes take their locks.
  const sorted = [...leases].sort((a, b) => (a.gid < b.gid ? -1 : 1))
  const rows = sorted.map(({ gid, token }) => fillFrom(RENEW.row, 0, [gid, token]))
  const changed = await session.run(fillRows(RENEW, rows, [now + leaseMs]))
  const kept = await session.all(fillRows(READ_RENEWED, rows))
  const renewed = kept.map(([gid, version]) => ({ gid: textOf(gid) as Gid, version: Number(version) }))
  const gids = new Set(renewed.map(({ gid }) => gid))
  const lost = leases.map(({ gid }) => gid).filter((gid) => !gids.has(gid))
  return { value: { now, renewed, lost }, rows: changed }
}
