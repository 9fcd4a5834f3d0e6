import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { kindWord, statusWord } from './row-words.ts'
import { rowsByGid, type StoreBooks } from './store-books.ts'

const JOURNAL = [
  `CREATE TABLE audit_journal (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    gid VARBINARY(128) NOT NULL, status TINYINT NOT NULL, epoch BIGINT NOT NULL
  ) ENGINE = InnoDB`,
  `CREATE TRIGGER audit_insert AFTER INSERT ON counterstep_transactions FOR EACH ROW
    INSERT INTO audit_journal (gid, status, epoch) VALUES (NEW.gid, NEW.status, NEW.epoch)`,
  `CREATE TRIGGER audit_update AFTER UPDATE ON counterstep_transactions FOR EACH ROW
    INSERT INTO audit_journal (gid, status, epoch) VALUES (NEW.gid, NEW.status, NEW.epoch)`,
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

interface RawRow extends RowDataPacket {
  readonly gid: string
  readonly kind: number
  readonly status: number
  readonly epoch: number
  readonly attention: number
}

/** The lines of one row are in the order of their commits, since each write waits for the row's lock. */
export async function readMysqlStore(url: string): Promise<StoreBooks> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query<RawRow[]>(
      'SELECT CAST(gid AS CHAR) AS gid, kind, status, epoch, attention FROM counterstep_transactions',
    )
    const [writes] = await connection.query<RawRow[]>(
      'SELECT CAST(gid AS CHAR) AS gid, status, epoch FROM audit_journal ORDER BY seq',
    )
    return {
      rows: rowsByGid(
        rows.map(({ gid, kind, status, attention }) => ({
          gid,
          kind: kindWord(kind),
          status: statusWord(status),
          attention: attention === 1,
        })),
      ),
      writes: writes.map(({ gid, status, epoch }) => ({ gid, status: statusWord(status), epoch })),
    }
  } finally {
    await connection.end()
  }
}
