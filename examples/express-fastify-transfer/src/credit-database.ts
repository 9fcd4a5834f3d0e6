import { checkBarrier, migrateBarrier } from '@counterstep/sdk/barrier/postgres'
import { Pool } from 'pg'

const CLIENTS_MAX = 10

// There is no `CHECK (cents >= 0)`: the money may be spent before its credit is undone, and the account then owes it.
// There is no unique key over gid and op: the barrier sees to it that each entry is written once, and the tests check
// that.
const TABLES = `
  CREATE TABLE IF NOT EXISTS account (
    id text PRIMARY KEY,
    cents bigint NOT NULL,
    frozen boolean NOT NULL DEFAULT false
  );
  CREATE TABLE IF NOT EXISTS entry (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gid text NOT NULL,
    account text NOT NULL,
    cents bigint NOT NULL
  );
  CREATE INDEX IF NOT EXISTS entry_gid ON entry (gid)`

export function createCreditPool(url: string): Pool {
  const pool = new Pool({ connectionString: url, max: CLIENTS_MAX })
  // An idle client whose server goes away emits an error here, which ends the process if there is no listener. The
  // pool makes another client.
  pool.on('error', (error) => console.error('credit-service', error))
  return pool
}

/** At each start: our own tables, the barrier's beside them, and a look whether the two go together. */
export async function migrateCreditDatabase(pool: Pool): Promise<void> {
  await pool.query(TABLES)
  await migrateBarrier(pool)
  await checkBarrier(pool, { businessTable: 'account' })
}
