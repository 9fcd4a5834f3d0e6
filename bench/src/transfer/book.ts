import type { PoolConnection, ResultSetHeader } from 'mysql2/promise'
import type { BankTables } from './bank-tables.ts'

/** The booking that one branch has to make. */
export interface Booking {
  readonly account: number
  readonly cents: number
  readonly gid: string
  readonly branchId: string
}

/** Writes a ledger row and an update of the balance in the open database transaction, so many times. */
export async function book(
  tx: PoolConnection,
  { account: accounts, ledger }: BankTables,
  pairs: number,
  { account, cents, gid, branchId }: Booking,
): Promise<void> {
  const insert = `INSERT INTO ${ledger} (account, cents, gid, branch_id) VALUES (?, ?, ?, ?)`
  const update = `UPDATE ${accounts} SET cents = cents + ? WHERE id = ?`
  for (let pair = 1; pair <= pairs; pair += 1) {
    await tx.execute(insert, [account, cents, gid, branchId])
    const [done] = await tx.execute<ResultSetHeader>(update, [cents, account])
    if (done.affectedRows !== 1) throw new Error(`there is no account ${account}`)
  }
}
