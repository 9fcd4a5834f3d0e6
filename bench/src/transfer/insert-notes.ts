import type { PoolConnection, ResultSetHeader } from 'mysql2/promise'
import type { BankTables } from './bank-tables.ts'
import type { Booking } from './book.ts'

/** The least that a barrier writes: a row for each action, by one statement. Throws for one that was there. */
export async function insertNotes(
  tx: PoolConnection,
  { barrier }: BankTables,
  bookings: readonly Booking[],
): Promise<void> {
  const now = Date.now()
  const rows = bookings.map(({ gid, branchId }) => [gid, branchId, 'action', '01', 'action', now])
  const sql = `INSERT IGNORE INTO ${barrier} (gid, branch_id, op, barrier_id, reason, created_at) VALUES ?`
  const [{ affectedRows }] = await tx.query<ResultSetHeader>(sql, [rows])
  if (affectedRows !== bookings.length) throw new Error('a call that was there')
}
