import type { AtOnce } from '../transactions/commit-at-once.ts'
import type { DatabaseTransactions, Tx } from '../transactions/database-transactions.ts'
import { ensureOwnRedo } from '../transactions/own-redo.ts'
import { createdAll, createRows, createStatements } from './create-rows.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'
import { savedAll, updateRows } from './update-rows.ts'
import { updateStatements } from './write-statements.ts'

const AT_ONCE_LENGTH_MAX = 256 * 1024

/**
 * One flush is one database transaction: its updates, then its creates, each in key order, and so are its locks. Mostly
 * it is one packet. Where one of the rows stands in the way they are written one after the other, and each can then be
 * answered by another.
 */
export function writeBatch(
  transactions: DatabaseTransactions,
  writes: readonly PendingWrite[],
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
  // What is alone tries a lock again; with neighbours it is set apart first, so that they go on.
  const lockWaitRepeats = writes.length === 1 ? 1 : 0
  const work = async (tx: Tx) => {
    const settlements = [...(await updateRows(tx, updates)), ...(await createRows(tx, creates))]
    await ensureOwnRedo(tx)
    return { value: settlements, rows: writes.length }
  }
  const length = writes.reduce((sum, write) => sum + write.length, 0)
  // The server answers a packet only when it has come whole.
  const atOnce = length > AT_ONCE_LENGTH_MAX ? undefined : atOnceOf(creates, updates)
  return transactions.run(work, { lockWaitRepeats, atOnce })
}

/** It changes rows, so its COMMIT waits for the disk. */
function atOnceOf(
  creates: readonly PendingCreate[],
  updates: readonly PendingUpdate[],
): AtOnce<readonly Settlement[]> {
  const created =
    creates.length === 0 ? [] : createStatements(creates).map((sql) => ({ sql, changes: creates.length }))
  return {
    statements: [...updateStatements(updates), ...created],
    done: (now) => ({
      value: [...createdAll(creates, now), ...savedAll(updates, now)],
      rows: creates.length + updates.length,
    }),
  }
}
