import { setTimeout as sleep } from 'node:timers/promises'
import type { BarrierOptions } from '../barrier.ts'
import type { BarrierMigration } from '../migration.ts'
import { PURGE_CHUNK_ROWS, type PurgeOptions, purgeBefore } from '../purge-options.ts'
import { repeatContended } from '../repeat-contended.ts'
import { parseTableName, quoteTable } from '../table-name.ts'
import { execute, isContended, type MysqlConnection, select } from './mysql-connection.ts'

/**
 * These are the table's migrations as SQL text, one statement each, for a migration tool of your own.
 *
 * The natural key is the primary key and the only unique key: with a second unique key, or an auto-increment,
 * concurrent inserts would deadlock. VARBINARY compares bytes, whatever the collation of the database is.
 *
 * @example
 * ```ts
 * for (const { sql } of mysqlBarrierMigrations()) await connection.query(sql)
 * ```
 */
export function mysqlBarrierMigrations(table?: string): readonly BarrierMigration[] {
  return [
    {
      version: 1,
      sql: `CREATE TABLE IF NOT EXISTS ${quoteTable(parseTableName(table), '`')} (
  gid VARBINARY(128) NOT NULL,
  branch_id VARBINARY(128) NOT NULL,
  op VARBINARY(16) NOT NULL,
  barrier_id VARBINARY(32) NOT NULL,
  reason VARBINARY(16) NOT NULL,
  answer BLOB,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (gid, branch_id, op, barrier_id),
  KEY counterstep_created_at (created_at)
) ENGINE = InnoDB`,
    },
  ]
}

/**
 * Makes the table, or brings it up to date. May be run at each start, by several processes at once, outside of any
 * transaction: MySQL commits at each of these statements.
 *
 * @example
 * ```ts
 * await migrateBarrier(pool, { table: 'bank.counterstep_barrier' })
 * ```
 */
export async function migrateBarrier(
  connection: MysqlConnection,
  { table }: Pick<BarrierOptions, 'table'> = {},
): Promise<void> {
  // MySQL 8 may report a deadlock in its own dictionary where several create one table.
  for (const { sql } of mysqlBarrierMigrations(table))
    await repeatContended(() => execute(connection, sql), isContended)
}

const OF_ROW = '(gid = ? AND branch_id = ? AND op = ? AND barrier_id = ?)'
const CONTENTION_PAUSE_MS = 50
const CONTENTIONS_MAX = 20

/**
 * Deletes rows that are older than the retention, in chunks of 500 with a commit each, and returns how many. If it
 * returns `limit`, call it again. Use the retention of the barrier, or a longer one. Pass the pool, or a connection
 * outside of any transaction.
 *
 * @example
 * ```ts
 * while ((await purgeBarrier(pool, { limit: 50_000 })) === 50_000) await pause()
 * ```
 */
export async function purgeBarrier(connection: MysqlConnection, options: PurgeOptions = {}): Promise<number> {
  const { table, before, limit } = purgeBefore(options)
  const name = quoteTable(table, '`')
  let deleted = 0
  while (deleted < limit) {
    const chunk = Math.min(PURGE_CHUNK_ROWS, limit - deleted)
    // The keys are read without locks, and each row is deleted by its whole key: a DELETE by `created_at` would also
    // lock the gaps between its rows. They are read by HEX, because not every key is text in the connection's charset.
    const keys = await select(
      connection,
      `SELECT HEX(gid), HEX(branch_id), HEX(op), HEX(barrier_id) FROM ${name}
       WHERE created_at < ? ORDER BY created_at LIMIT ${chunk}`,
      [before],
    )
    if (keys.length === 0) break
    deleted += await deleteRows(connection, name, keys)
    if (keys.length < chunk) break
  }
  return deleted
}

/**
 * Deletes in the order of the key, which is also the order of the inserts of one branch, so that two purges do not wait
 * for each other.
 */
async function deleteRows(
  connection: MysqlConnection,
  name: string,
  keys: readonly (readonly (string | null)[])[],
): Promise<number> {
  const sorted = [...keys].sort((one, other) => (one.join() < other.join() ? -1 : 1))
  const values = sorted.flatMap((key) => key.map((part) => Buffer.from(part ?? '', 'hex')))
  const where = sorted.map(() => OF_ROW).join(' OR ')
  for (let contentions = 0; ; contentions++) {
    try {
      return (await execute(connection, `DELETE FROM ${name} WHERE ${where}`, values)).affectedRows
    } catch (error: unknown) {
      if (!isContended(error) || contentions === CONTENTIONS_MAX) throw error
    }
    await sleep(Math.random() * CONTENTION_PAUSE_MS)
  }
}
