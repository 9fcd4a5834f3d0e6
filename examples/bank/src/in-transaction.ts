import type { DatabaseSync } from 'node:sqlite'

/**
 * Runs `work` in one database transaction, which takes the write lock at its start. Inside a transaction that is open already it is a
 * savepoint of that one. Whatever `work` throws takes back what it wrote.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  const isInner = database.isTransaction
  database.exec(isInner ? 'SAVEPOINT bank' : 'BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec(isInner ? 'RELEASE bank' : 'COMMIT')
    return result
  } catch (error: unknown) {
    // SQLite has rolled back by itself on some faults, such as a full disk.
    if (database.isTransaction) database.exec(isInner ? 'ROLLBACK TO bank; RELEASE bank' : 'ROLLBACK')
    throw error
  }
}
