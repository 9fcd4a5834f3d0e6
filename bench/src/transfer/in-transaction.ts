import type { Pool, PoolConnection } from 'mysql2/promise'

/** Works like a service without a barrier: begin, the effect, commit; a connection that fails is not used again. */
export async function inTransaction(
  pool: Pool,
  effect: (tx: PoolConnection) => Promise<void>,
): Promise<void> {
  const tx = await pool.getConnection()
  try {
    await tx.query('START TRANSACTION')
    await effect(tx)
    await tx.query('COMMIT')
  } catch (error: unknown) {
    // The database rolls back what is cut off.
    tx.destroy()
    throw error
  }
  tx.release()
}
