import { DatabaseSync } from 'node:sqlite'
import { type JournalRow, readTables, type TransactionRow } from './read-tables.ts'
import type { StoreBooks } from './store-books.ts'

const BUSY_MS_MAX = 5_000

// Only the branch ids of a workflow's steps and its highest granted slot are kept of its record.
const JOURNAL = `
  CREATE TABLE audit_journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, gid TEXT NOT NULL, status INTEGER NOT NULL, epoch INTEGER NOT NULL,
    at INTEGER NOT NULL DEFAULT (CAST(1000 * unixepoch('subsec') AS INTEGER)), steps TEXT, last_slot INTEGER
  );
  CREATE TRIGGER audit_insert AFTER INSERT ON transactions BEGIN
    INSERT INTO audit_journal (gid, status, epoch) VALUES (NEW.gid, NEW.status, NEW.epoch);
  END;
  CREATE TRIGGER audit_update AFTER UPDATE ON transactions BEGIN
    INSERT INTO audit_journal (gid, status, epoch, steps, last_slot) VALUES (
      NEW.gid, NEW.status, NEW.epoch,
      (SELECT json_group_array(value ->> '$.branch.id') FROM json_each(NEW.progress, '$.w.steps')),
      NEW.progress ->> '$.w.granted'
    );
  END`

/** Prepares a file that no process has open. From here on every write of a row leaves a line. */
export function keepSqliteJournal(path: string): void {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  try {
    database.exec(JOURNAL)
  } finally {
    database.close()
  }
}

export function readSqliteStore(path: string): StoreBooks {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  try {
    const read = (sql: string): unknown[] => database.prepare(sql).all()
    const rows = read('SELECT gid, kind, status, attention FROM transactions') as TransactionRow[]
    const writes = read(
      'SELECT gid, status, epoch, at, steps, last_slot AS lastSlot FROM audit_journal ORDER BY seq',
    ) as JournalRow[]
    return readTables(rows, writes)
  } finally {
    database.close()
  }
}
