import Sqlite from 'better-sqlite3'
import type { Account, BankBooks, BlockedOp, Effect } from '../evidence.ts'
import { BOOK_QUERIES } from './book-queries.ts'

/** Reads a bank's own file: an auditor that asks the suspect proves nothing. */
export function readSqliteBooks(path: string): BankBooks {
  const database = new Sqlite(path, { readonly: true, fileMustExist: true })
  try {
    return database.transaction(() => ({
      accounts: database.prepare<[], Account>(BOOK_QUERIES.accounts).all(),
      effects: database.prepare<[], Effect>(BOOK_QUERIES.effects).all(),
      blocked: database.prepare<[], BlockedOp>(BOOK_QUERIES.blocked).all(),
    }))()
  } finally {
    database.close()
  }
}
