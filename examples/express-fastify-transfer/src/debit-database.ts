import { checkBarrier, migrateBarrier } from '@counterstep/sdk/barrier/mysql'
import { createPool, type Pool } from 'mysql2/promise'

const CONNECTIONS_MAX = 10

// No unique key over gid and op: that each entry is written once is the barrier's work, and the tests look at it.
const TABLES = [
  `CREATE TABLE IF NOT EXISTS account (
    id VARCHAR(64) PRIMARY KEY,
    cents BIGINT NOT NULL CHECK (cents >= 0)
  ) ENGINE = InnoDB`,
  `CREATE TABLE IF NOT EXISTS entry (
    number BIGINT AUTO_INCREMENT PRIMARY KEY,
    gid VARCHAR(128) NOT NULL,
    account VARCHAR(64) NOT NULL,
    cents BIGINT NOT NULL,
    KEY (gid)
  ) ENGINE = InnoDB`,
] as const

export function createDebitPool(url: string): Pool {
  return createPool({ uri: url, connectionLimit: CONNECTIONS_MAX })
}

/** At each start: our own tables, the barrier's beside them, and a look whether the two go together. */
export async function migrateDebitDatabase(pool: Pool): Promise<void> {
  for (const table of TABLES) await pool.query(table)
  await migrateBarrier(pool)
  await checkBarrier(pool, { businessTable: 'account' })
}
