import { createRows } from './create-rows.ts'
import type { DatabaseTransactions } from './database-transactions.ts'
import { ensureOwnRedo } from './own-redo.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'
import { updateRows } from './update-rows.ts'

/** One flush is one database transaction. Its rows are in key order, and so are its locks. */
export function writeBatch(
  transactions: DatabaseTransactions,
  writes: readonly PendingWrite[],
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
  // What is alone tries a lock again; with neighbours it is set apart first, so that they go on.
  const lockWaitRepeats = writes.length === 1 ? 1 : 0
  return transactions.run(async (tx) => {
    const created = await createRows(tx, creates)
    const updated = await updateRows(tx, updates)
    await ensureOwnRedo(tx)
    return { value: [...created, ...updated], rows: writes.length }
  }, lockWaitRepeats)
}
