import { DatabaseSync } from 'node:sqlite'
import type { Account, BankBooks, BlockedOp, Effect } from '../evidence.ts'
import { BOOK_QUERIES } from './book-queries.ts'

const BUSY_MS_MAX = 5_000

/** Reads a bank's own file: an auditor that asks the suspect proves nothing. */
export function readSqliteBooks(path: string): BankBooks {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    // One transaction, so that all books are of one instant. It ends with the connection.
    database.exec('BEGIN')
    const read = (sql: string): unknown[] => database.prepare(sql).all()
    return {
      accounts: read(BOOK_QUERIES.accounts) as Account[],
      effects: read(BOOK_QUERIES.effects) as Effect[],
      blocked: read(BOOK_QUERIES.blocked) as BlockedOp[],
    }
  } finally {
    database.close()
  }
}
