import { AssertionError, type StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type STORED_COLUMNS, toStoredTransaction } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseRowsStatement } from '../sessions/statement.ts'

COLUMNS.readMany satisfies typeof STORED_COLUMNS
const READ_MANY = parseRowsStatement(STATEMENTS.readMany)

/** Leaves out a row of a later version, so that it does not spoil the others. It is a bug only for a caller that asks for it alone. */
export async function readMany(
  session: Session,
  gids: readonly Gid[],
): Promise<readonly StoredTransaction[]> {
  if (gids.length === 0) return []
  const rows = await session.readRows(
    READ_MANY,
    gids.map((gid) => fill(READ_MANY.row, [gid])),
  )
  const transactions = rows.flatMap((row) => toStoredTransaction(row) ?? [])
  if (gids.length === 1 && transactions.length < rows.length) {
    throw new AssertionError(`${gids[0]} has codes of a later version`)
  }
  return transactions
}
