import type { Pool as MysqlPool } from 'mysql2/promise'
import type { Pool as PostgresPool } from 'pg'

/** Enough for some thousand demos on one database. */
const ALICE_CENTS = 10_000_000
const CAROL_CENTS = 1_000

/** Accounts that are there already keep their balance. */
export async function seedDebit(pool: MysqlPool): Promise<void> {
  await pool.execute(
    "INSERT INTO account (id, cents) VALUES ('alice', ?), ('carol', ?) ON DUPLICATE KEY UPDATE id = id",
    [ALICE_CENTS, CAROL_CENTS],
  )
}

/** Accounts that are there already keep their balance. */
export async function seedCredit(pool: PostgresPool): Promise<void> {
  await pool.query(
    "INSERT INTO account (id, cents, frozen) VALUES ('bob', 0, false), ('dora', 0, true) ON CONFLICT DO NOTHING",
  )
}
