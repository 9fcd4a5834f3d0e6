import type { Account, BankBooks, BlockedOp, Effect } from '../evidence.ts'
import { withPostgres } from '../postgres/with-postgres.ts'
import { BOOK_QUERIES } from './book-queries.ts'

/** Reads a bank's own tables in one snapshot. */
export function readPostgresBooks(url: string): Promise<BankBooks> {
  return withPostgres(url, async (client) => {
    // The transaction ends with the connection.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return {
      accounts: (await client.query<Account>(BOOK_QUERIES.accounts)).rows,
      effects: (await client.query<Effect>(BOOK_QUERIES.effects)).rows,
      blocked: (await client.query<BlockedOp>(BOOK_QUERIES.blocked)).rows,
    }
  })
}
