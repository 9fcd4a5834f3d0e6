import { DatabaseSync } from 'node:sqlite'
import { listRecordedSteps, type RecordWrite } from './recorded-steps.ts'
import { kindWord, statusWord } from './row-words.ts'
import { rowsByGid, type StoreBooks } from './store-books.ts'

const BUSY_MS_MAX = 5_000

/** Only a workflow's record is kept with each write: its steps stand in it. */
const WORKFLOW_CODE = 3

const JOURNAL = `
  CREATE TABLE audit_journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, gid TEXT NOT NULL, status INTEGER NOT NULL, epoch INTEGER NOT NULL,
    at INTEGER NOT NULL DEFAULT (CAST(1000 * unixepoch('subsec') AS INTEGER)), progress TEXT
  );
  CREATE TRIGGER audit_insert AFTER INSERT ON transactions BEGIN
    INSERT INTO audit_journal (gid, status, epoch) VALUES (NEW.gid, NEW.status, NEW.epoch);
  END;
  CREATE TRIGGER audit_update AFTER UPDATE ON transactions BEGIN
    INSERT INTO audit_journal (gid, status, epoch, progress)
      VALUES (NEW.gid, NEW.status, NEW.epoch, CASE NEW.kind WHEN ${WORKFLOW_CODE} THEN NEW.progress END);
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

interface RawRow {
  readonly gid: string
  readonly kind: number
  readonly status: number
  readonly epoch: number
  readonly attention: number
}

export function readSqliteStore(path: string): StoreBooks {
  const database = new DatabaseSync(path, { timeout: BUSY_MS_MAX })
  try {
    const read = (sql: string): unknown[] => database.prepare(sql).all()
    const rows = read('SELECT gid, kind, status, epoch, attention FROM transactions') as RawRow[]
    const records = read(
      'SELECT gid, status, at, progress FROM audit_journal WHERE progress IS NOT NULL ORDER BY seq',
    ) as readonly (Omit<RecordWrite, 'status'> & { readonly status: number })[]
    const writes = read('SELECT gid, status, epoch FROM audit_journal ORDER BY seq') as RawRow[]
    return {
      rows: rowsByGid(
        rows.map(({ gid, kind, status, attention }) => ({
          gid,
          kind: kindWord(kind),
          status: statusWord(status),
          attention: attention === 1,
        })),
      ),
      recordedSteps: listRecordedSteps(
        records.map(({ status, ...record }) => ({ ...record, status: statusWord(status) })),
      ),
      writes: writes.map(({ gid, status, epoch }) => ({ gid, status: statusWord(status), epoch })),
    }
  } finally {
    database.close()
  }
}
