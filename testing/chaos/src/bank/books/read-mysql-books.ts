import { createConnection, type RowDataPacket } from 'mysql2/promise'
import type { Account, BankBooks, BlockedOp, Effect } from '../evidence.ts'
import { BOOK_QUERIES } from './book-queries.ts'

/** Reads a bank's own tables in one snapshot. */
export async function readMysqlBooks(url: string): Promise<BankBooks> {
  const connection = await createConnection({
    uri: url,
    // The barrier's texts are binary strings.
    typeCast: (field, next) => (field.type === 'VAR_STRING' ? field.string('utf8') : next()),
  })
  const read = async <Row>(sql: string): Promise<readonly Row[]> => {
    const [rows] = await connection.query<(Row & RowDataPacket)[]>(sql)
    return rows
  }
  try {
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    return {
      accounts: await read<Account>(BOOK_QUERIES.accounts),
      effects: await read<Effect>(BOOK_QUERIES.effects),
      blocked: await read<BlockedOp>(BOOK_QUERIES.blocked),
    }
  } finally {
    await connection.end()
  }
}
