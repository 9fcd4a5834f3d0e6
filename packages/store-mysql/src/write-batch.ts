import { createdAll, createRows, createStatement } from './create-rows.ts'
import type { DatabaseTransactions, Start, Tx } from './database-transactions.ts'
import { ensureOwnRedo } from './own-redo.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'
import { savedAll, updatedRows, updateRows } from './update-rows.ts'
import { updateStatements } from './update-statement.ts'

const OPENING_LENGTH_MAX = 256 * 1024

/**
 * One flush is one database transaction. Its rows are in key order, and so are its locks. Mostly it is one packet; with
 * several updates that are not alike two: its beginning with the statements, and the COMMIT. Where one of the rows
 * stands in the way, creates and updates are written one after the other, and each can then be answered by another.
 */
export function writeBatch(
  transactions: DatabaseTransactions,
  writes: readonly PendingWrite[],
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
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
  return transactions.run(work, { lockWaitRepeats, start: startOf(creates, updates) })
}

function startOf(
  creates: readonly PendingCreate[],
  updates: readonly PendingUpdate[],
): Start<readonly Settlement[]> {
  const rows = creates.length + updates.length
  const length = [...creates, ...updates].reduce((sum, write) => sum + write.length, 0)
  // The server answers a packet only when it has come whole.
  if (length > OPENING_LENGTH_MAX) return { type: 'opening', statements: [] }
  const changing = updateStatements(updates)
  const statements = [...(creates.length === 0 ? [] : [createStatement(creates)]), ...changing]
  if (changing.length > 1) return { type: 'opening', statements }
  // An insert writes all of its rows or none, so that the count of the last statement answers for both. They have changed
  // rows, so the COMMIT waits for the disk.
  return {
    type: 'at-once',
    statements,
    changes: updates.length === 0 ? creates.length : updates.length,
    done: (now) => ({ value: [...createdAll(creates, now), ...savedAll(updates, now)], rows }),
  }
}
