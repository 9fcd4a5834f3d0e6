import type { BarrierCall } from '@counterstep/sdk'
import { migrateBarrier, mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import type { BankDatabase, Guard } from './bank-database.ts'
import { accountIds, INITIAL_CENTS } from './bank-schema.ts'
import type { Entry, Hold } from './bank-work.ts'
import { createSqlBank, withoutBarrier } from './sql-bank.ts'

const CONNECTIONS_MAX = 16

// No unique key on the ledger: the barrier is to keep it right, and the audit to see it.
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS account (
    id VARCHAR(32) PRIMARY KEY, initial_cents BIGINT NOT NULL, balance_cents BIGINT NOT NULL
  ) ENGINE = InnoDB`,
  `CREATE TABLE IF NOT EXISTS effect (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    gid VARCHAR(128) NOT NULL, branch_id VARCHAR(64) NOT NULL, op VARCHAR(16) NOT NULL,
    account VARCHAR(32) NOT NULL, cents BIGINT NOT NULL
  ) ENGINE = InnoDB`,
  `CREATE TABLE IF NOT EXISTS hold (
    id VARCHAR(64) PRIMARY KEY, account VARCHAR(32) NOT NULL, cents BIGINT NOT NULL
  ) ENGINE = InnoDB`,
]

export async function openMysqlBank(url: string, guard: Guard): Promise<BankDatabase> {
  const pool = createPool({ uri: url, connectionLimit: CONNECTIONS_MAX })
  for (const sql of SCHEMA) await pool.query(sql)
  const rows = accountIds().map((id) => [id, INITIAL_CENTS, INITIAL_CENTS])
  await pool.query('INSERT IGNORE INTO account VALUES ?', [rows])
  await migrateBarrier(pool)
  const barrier = guard === 'barrier' ? mysqlBarrier(pool) : withoutBarrier(() => pool.getConnection())
  return createSqlBank({ barrier, readHold, writeEntry, close: () => pool.end() })
}

async function readHold(tx: PoolConnection, id: string): Promise<Hold | undefined> {
  const [[row]] = await tx.query<(Hold & RowDataPacket)[]>(
    'SELECT id, account, cents FROM hold WHERE id = ?',
    [id],
  )
  return row
}

async function writeEntry(
  tx: PoolConnection,
  { gid, branchId, op }: BarrierCall,
  entry: Entry,
): Promise<void> {
  const { account, cents, newHold } = entry
  await tx.query('UPDATE account SET balance_cents = balance_cents + ? WHERE id = ?', [cents, account])
  await tx.query('INSERT INTO effect (gid, branch_id, op, account, cents) VALUES ?', [
    [[gid, branchId, op, account, cents]],
  ])
  if (newHold === undefined) return
  await tx.query('INSERT INTO hold (id, account, cents) VALUES ?', [
    [[newHold.id, newHold.account, newHold.cents]],
  ])
}
