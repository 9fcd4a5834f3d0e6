import { createdAll, createRows, createStatement } from './create-rows.ts'
import type { DatabaseTransactions, Tx } from './database-transactions.ts'
import { ensureOwnRedo } from './own-redo.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'
import { updatedRows, updateRows } from './update-rows.ts'
import { updateStatements } from './update-statement.ts'

const OPENING_LENGTH_MAX = 256 * 1024

/**
 * One flush is one database transaction. Its rows are in key order, and so are its locks. Mostly it takes two packets:
 * its beginning with both statements, and the COMMIT. Where one of the rows stands in the way, creates and updates are
 * written one after the other, and each can then be answered by another.
 */
export function writeBatch(
  transactions: DatabaseTransactions,
  writes: readonly PendingWrite[],
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
  const opening = openingOf(creates, updates)
  // What is alone tries a lock again; with neighbours it is set apart first, so that they go on.
  const lockWaitRepeats = writes.length === 1 ? 1 : 0
  const work = async (tx: Tx, changed?: number) => {
    const settlements =
      changed === undefined
        ? [...(await createRows(tx, creates)), ...(await updateRows(tx, updates))]
        : [...createdAll(creates, tx.now), ...(await updatedRows(tx, updates, changed - creates.length))]
    await ensureOwnRedo(tx)
    return { value: settlements, rows: writes.length }
  }
  return transactions.run(work, { lockWaitRepeats, opening })
}

/** Nothing where it would be long: the server answers a packet only when it has come whole. */
function openingOf(creates: readonly PendingCreate[], updates: readonly PendingUpdate[]): readonly string[] {
  const length = [...creates, ...updates].reduce((sum, write) => sum + write.length, 0)
  if (length > OPENING_LENGTH_MAX) return []
  return [...(creates.length === 0 ? [] : [createStatement(creates)]), ...updateStatements(updates)]
}
