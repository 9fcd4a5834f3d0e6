import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { fill, parseRowsStatement, parseStatement } from '../sessions/statement.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const FIND_PURGEABLE = parseStatement(STATEMENTS.findPurgeable)
const PURGE = parseRowsStatement(STATEMENTS.purge)

/** Deletes by primary key, and skips rows that another transaction has locked: it locks no range and waits for no lock. */
export async function purgeFinished(
  { session, now }: Tx,
  limit: number,
): Promise<Work<{ readonly purged: number }>> {
  const found = limit === 0 ? [] : await session.all(fill(FIND_PURGEABLE, [now, limit]))
  if (found.length === 0) return { value: { purged: 0 }, rows: 0 }
  const ids = found.map((row) => fill(PURGE.row, [Number(row[COLUMNS.findPurgeable.id])]))
  const purged = await session.runRows(PURGE, ids)
  return { value: { purged }, rows: purged }
}
