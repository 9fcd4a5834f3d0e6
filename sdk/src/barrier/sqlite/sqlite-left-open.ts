import { isInTransaction, type SqliteDatabase } from './sqlite-database.ts'

/** The databases on which a transaction of the barrier could not be rolled back. */
const leftOpen = new WeakSet<SqliteDatabase>()

const PAUSE_MS_FIRST = 1
const PAUSE_MS_MAX = 50

/**
 * Rolls a transaction back as soon as the connection is free. Until then, better-sqlite3 refuses each write on the connection, so nothing
 * of other code becomes part of the transaction.
 */
export function leaveOpen(database: SqliteDatabase, pauseMs = PAUSE_MS_FIRST): void {
  leftOpen.add(database)
  const endLater = (): void => {
    if (!endLeftOpen(database)) leaveOpen(database, Math.min(2 * pauseMs, PAUSE_MS_MAX))
  }
  setTimeout(endLater, pauseMs).unref()
}

/** Rolls back a transaction that was left open. Returns false if the connection is not free yet. */
export function endLeftOpen(database: SqliteDatabase): boolean {
  if (!leftOpen.has(database)) return true
  try {
    if (isOpenStill(database)) database.exec('ROLLBACK')
  } catch {
    return false
  }
  leftOpen.delete(database)
  return true
}

function isOpenStill(database: SqliteDatabase): boolean {
  try {
    return isInTransaction(database)
  } catch {
    // A database that was closed has no transaction.
    return false
  }
}
