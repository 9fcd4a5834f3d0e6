import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { type JournalRow, readTables, type TransactionRow } from './read-tables.ts'
import type { StoreBooks } from './store-books.ts'

// The store asks by a row with an empty record whether its server may still write, and JSON functions refuse an empty text.
const PROGRESS = `NULLIF(CONVERT(NEW.progress USING utf8mb4), '')`
// Only the branch ids of a workflow's steps and its highest granted slot are kept of its record. SYSDATE is the instant at which it
// is asked for, where NOW is that of the whole statement.
const WRITE = `INSERT INTO audit_journal (gid, status, epoch, at, steps, last_slot) VALUES (
    NEW.gid, NEW.status, NEW.epoch, FLOOR(1000 * UNIX_TIMESTAMP(SYSDATE(3))),
    JSON_EXTRACT(${PROGRESS}, '$.w.steps[*].branch.id'),
    JSON_VALUE(${PROGRESS}, '$.w.granted')
  )`
const JOURNAL = [
  `CREATE TABLE audit_journal (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    gid VARBINARY(128) NOT NULL, status TINYINT NOT NULL, epoch BIGINT NOT NULL,
    at BIGINT NOT NULL, steps MEDIUMTEXT, last_slot INT
  ) ENGINE = InnoDB`,
  `CREATE TRIGGER audit_insert AFTER INSERT ON counterstep_transactions FOR EACH ROW ${WRITE}`,
  `CREATE TRIGGER audit_update AFTER UPDATE ON counterstep_transactions FOR EACH ROW ${WRITE}`,
]

/**
 * Prepares a database whose tables are made. From here on every write of a row leaves a line, in the same transaction.
 */
export async function keepMysqlJournal(url: string): Promise<void> {
  const connection = await createConnection(url)
  try {
    for (const sql of JOURNAL) await connection.query(sql)
  } finally {
    await connection.end()
  }
}

/** The lines of one row are in the order of their commits, since each write waits for the row's lock. */
export async function readMysqlStore(url: string): Promise<StoreBooks> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query<(TransactionRow & RowDataPacket)[]>(
      'SELECT CAST(gid AS CHAR) AS gid, kind, status, attention FROM counterstep_transactions',
    )
    const [writes] = await connection.query<(JournalRow & RowDataPacket)[]>(
      `SELECT CAST(gid AS CHAR) AS gid, status, epoch, at, steps, last_slot AS lastSlot
        FROM audit_journal ORDER BY seq`,
    )
    return readTables(rows, writes)
  } finally {
    await connection.end()
  }
}
