import { withPostgres } from '../postgres/with-postgres.ts'
import { type JournalRow, readTables, type TransactionRow } from './read-tables.ts'
import type { StoreBooks } from './store-books.ts'

// Only the branch ids of a workflow's steps and its highest granted slot are kept of its record. The type json leaves the other texts
// as they are, where jsonb would refuse some. The function has the rights of its owner, since the servers have none on the journal.
const JOURNAL = `
  CREATE TABLE audit_journal (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, gid text NOT NULL, status smallint NOT NULL, epoch bigint NOT NULL,
    at bigint NOT NULL, steps text, last_slot integer
  );
  CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE
    record json := NULLIF(NEW.progress, '')::json -> 'w';
  BEGIN
    INSERT INTO audit_journal (gid, status, epoch, at, steps, last_slot) VALUES (
      NEW.gid, NEW.status, NEW.epoch, floor(1000 * extract(epoch FROM clock_timestamp())),
      (SELECT json_agg(step -> 'branch' -> 'id') FROM json_array_elements(record -> 'steps') AS step),
      (record ->> 'granted')::integer
    );
    RETURN NULL;
  END $$;
  CREATE TRIGGER audit_write AFTER INSERT OR UPDATE ON counterstep_transactions FOR EACH ROW EXECUTE FUNCTION note_write()`

/** Prepares a database whose tables are made. From here on every write of a row leaves a line, in the same transaction. */
export async function keepPostgresJournal(url: string): Promise<void> {
  await withPostgres(url, (client) => client.query(JOURNAL))
}

/** The lines of one row are in the order of their commits, since each write waits for the row's lock. */
export function readPostgresStore(url: string): Promise<StoreBooks> {
  return withPostgres(url, async (client) => {
    const { rows } = await client.query<TransactionRow>(
      'SELECT gid, kind, status, attention FROM counterstep_transactions',
    )
    const { rows: writes } = await client.query<JournalRow>(
      'SELECT gid, status, epoch, at, steps, last_slot AS "lastSlot" FROM audit_journal ORDER BY seq',
    )
    return readTables(rows, writes)
  })
}
