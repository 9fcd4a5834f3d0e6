import type { BarrierCall } from '@counterstep/sdk'
import { migrateBarrier, postgresBarrier } from '@counterstep/sdk/barrier/postgres'
import { Pool, type PoolClient } from 'pg'
import { NUMBERS } from '../postgres/numbers.ts'
import type { BankDatabase, Guard } from './bank-database.ts'
import { accountIds, INITIAL_CENTS } from './bank-schema.ts'
import type { Entry, Hold } from './bank-work.ts'
import { createSqlBank, withoutBarrier } from './sql-bank.ts'

const CONNECTIONS_MAX = 16

// No unique key on the ledger: the barrier is to keep it right, and the audit to see it.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS account (id text PRIMARY KEY, initial_cents bigint NOT NULL, balance_cents bigint NOT NULL);
  CREATE TABLE IF NOT EXISTS effect (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gid text NOT NULL, branch_id text NOT NULL, op text NOT NULL, account text NOT NULL, cents bigint NOT NULL
  );
  CREATE TABLE IF NOT EXISTS hold (id text PRIMARY KEY, account text NOT NULL, cents bigint NOT NULL)`

export async function openPostgresBank(url: string, guard: Guard): Promise<BankDatabase> {
  const pool = new Pool({ connectionString: url, max: CONNECTIONS_MAX, types: NUMBERS })
  await pool.query(SCHEMA)
  await pool.query(
    'INSERT INTO account SELECT id, $2, $2 FROM unnest($1::text[]) AS id ON CONFLICT DO NOTHING',
    [accountIds(), INITIAL_CENTS],
  )
  await migrateBarrier(pool)
  const barrier = guard === 'barrier' ? postgresBarrier(pool) : withoutBarrier(() => pool.connect())
  return createSqlBank({ barrier, readHold, writeEntry, close: () => pool.end() })
}

async function readHold(tx: PoolClient, id: string): Promise<Hold | undefined> {
  const { rows } = await tx.query<Hold>('SELECT id, account, cents FROM hold WHERE id = $1', [id])
  return rows[0]
}

async function writeEntry(
  tx: PoolClient,
  { gid, branchId, op }: BarrierCall,
  { account, cents, newHold }: Entry,
): Promise<void> {
  await tx.query('UPDATE account SET balance_cents = balance_cents + $1 WHERE id = $2', [cents, account])
  await tx.query('INSERT INTO effect (gid, branch_id, op, account, cents) VALUES ($1, $2, $3, $4, $5)', [
    ...[gid, branchId, op, account, cents],
  ])
  if (newHold === undefined) return
  await tx.query('INSERT INTO hold (id, account, cents) VALUES ($1, $2, $3)', [
    ...[newHold.id, newHold.account, newHold.cents],
  ])
}
