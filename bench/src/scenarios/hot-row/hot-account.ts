import { mysqlBarrierMigrations } from '@counterstep/sdk/barrier/mysql'
import type { SqlLink } from '../../stores/sql-link.ts'

/** The id of the one row. */
export const HOT_ID = 'hot'
/** Little, so that now and then there is too little. */
export const START_CENTS = 1_000

/** A database with one account, its ledger and the barrier's table. */
export async function createHotAccount(link: SqlLink, database: string): Promise<void> {
  await link.run(`CREATE DATABASE ${database}`)
  for (const { sql } of mysqlBarrierMigrations(`${database}.counterstep_barrier`)) await link.run(sql)
  await link.run(
    `CREATE TABLE ${database}.account (id VARCHAR(32) PRIMARY KEY, cents BIGINT NOT NULL) ENGINE = InnoDB`,
  )
  await link.run(
    `CREATE TABLE ${database}.ledger (
      number BIGINT AUTO_INCREMENT PRIMARY KEY,
      gid VARBINARY(128) NOT NULL,
      account VARCHAR(32) NOT NULL,
      cents BIGINT NOT NULL
    ) ENGINE = InnoDB`,
  )
  await link.run(`INSERT INTO ${database}.account VALUES (?, ?)`, [HOT_ID, START_CENTS])
}
