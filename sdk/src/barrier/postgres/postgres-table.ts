import type { BarrierOptions } from '../barrier.ts'
import type { BarrierMigration } from '../migration.ts'
import { PURGE_CHUNK_ROWS, type PurgeOptions, purgeBefore } from '../purge-options.ts'
import { parseTableName, quoteTable } from '../table-name.ts'
import { execute, type PostgresClient } from './postgres-client.ts'

/**
 * These are the table's migrations as SQL text, for a migration tool of your own.
 *
 * @example
 * ```ts
 * for (const { sql } of postgresBarrierMigrations()) await client.query(sql)
 * ```
 */
export function postgresBarrierMigrations(table?: string): readonly BarrierMigration[] {
  const name = parseTableName(table)
  return [
    {
      version: 1,
      // The collation "C" compares bytes, whatever the database's own is.
      sql: `CREATE TABLE IF NOT EXISTS ${quoteTable(name, '"')} (
  gid text COLLATE "C" NOT NULL,
  branch_id text COLLATE "C" NOT NULL,
  op text COLLATE "C" NOT NULL,
  barrier_id text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  answer text,
  created_at bigint NOT NULL,
  PRIMARY KEY (gid, branch_id, op, barrier_id)
);
CREATE INDEX IF NOT EXISTS "${name.table}_created_at" ON ${quoteTable(name, '"')} (created_at)`,
    },
  ]
}

// Any number that others are unlikely to lock: "cstp" in ASCII.
const MIGRATION_LOCK = 0x63737470

/**
 * Makes the table, or brings it up to date. May be run at each start, by several processes at once: IF NOT EXISTS alone
 * fails when two of them make it in the same instant, so a lock keeps them apart.
 *
 * @example
 * ```ts
 * await migrateBarrier(pool)
 * ```
 */
export async function migrateBarrier(
  client: PostgresClient,
  { table }: Pick<BarrierOptions, 'table'> = {},
): Promise<void> {
  const lock = `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
  // Several statements in one message are one transaction.
  for (const { sql } of postgresBarrierMigrations(table)) await execute(client, `${lock};\n${sql}`)
}

/**
 * Deletes rows that are older than the retention, in chunks of 500 with a commit each, and returns how many. If it
 * returns `limit`, call it again. Use the retention of the barrier, or a longer one. Pass the pool, or a client outside
 * of any transaction.
 *
 * @example
 * ```ts
 * const deleted = await purgeBarrier(pool, { retentionMs: 90 * 24 * 3_600_000 })
 * ```
 */
export async function purgeBarrier(client: PostgresClient, options: PurgeOptions = {}): Promise<number> {
  const { table, before, limit } = purgeBefore(options)
  const name = quoteTable(table, '"')
  const key = 'gid, branch_id, op, barrier_id'
  // Rows that another purge has locked are skipped, because that purge deletes them.
  const text = `DELETE FROM ${name} WHERE (${key}) IN
    (SELECT ${key} FROM ${name} WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
  let deleted = 0
  while (deleted < limit) {
    const chunk = Math.min(PURGE_CHUNK_ROWS, limit - deleted)
    const { rowCount } = await execute(client, text, [before, chunk])
    deleted += rowCount ?? 0
    if ((rowCount ?? 0) < chunk) break
  }
  return deleted
}
