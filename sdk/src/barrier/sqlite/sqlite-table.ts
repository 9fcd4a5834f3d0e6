import type { BarrierOptions } from '../barrier.ts'
import type { BarrierMigration } from '../migration.ts'
import type { PurgeOptions } from '../purge-options.ts'
import { PURGE_CHUNK_ROWS, purgeBefore } from '../purge-options.ts'
import { parseTableName, quoteTable } from '../table-name.ts'
import { isInTransaction, readCells, type SqliteDatabase } from './sqlite-database.ts'

/**
 * These are the table's migrations as SQL text, for a migration tool of your own.
 *
 * @example
 * ```ts
 * for (const { sql } of sqliteBarrierMigrations()) database.exec(sql)
 * ```
 */
export function sqliteBarrierMigrations(table?: string): readonly BarrierMigration[] {
  const name = parseTableName(table)
  const index = quoteTable({ ...name, table: `${name.table}_created_at` }, '"')
  return [
    {
      version: 1,
      // SQLite compares TEXT by its bytes unless a column says otherwise.
      sql: `CREATE TABLE IF NOT EXISTS ${quoteTable(name, '"')} (
  gid TEXT NOT NULL COLLATE BINARY,
  branch_id TEXT NOT NULL COLLATE BINARY,
  op TEXT NOT NULL COLLATE BINARY,
  barrier_id TEXT NOT NULL COLLATE BINARY,
  reason TEXT NOT NULL,
  answer TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (gid, branch_id, op, barrier_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${index} ON "${name.table}" (created_at)`,
    },
  ]
}

/**
 * Makes the table, or brings it up to date. May be run at each start, by several processes at once: it waits for
 * another's lock for up to 5 s.
 *
 * @example
 * ```ts
 * migrateBarrier(database)
 * ```
 */
export function migrateBarrier(
  database: SqliteDatabase,
  { table }: Pick<BarrierOptions, 'table'> = {},
): void {
  if (isInTransaction(database)) throw new TypeError('migrateBarrier needs a transaction of its own')
  waitForOthers(database, () => {
    database.exec('BEGIN IMMEDIATE')
    try {
      for (const { sql } of sqliteBarrierMigrations(table)) database.exec(sql)
      database.exec('COMMIT')
    } catch (error: unknown) {
      if (isInTransaction(database)) database.exec('ROLLBACK')
      throw error
    }
  })
}

const START_WAIT_MS = 5_000

/**
 * Lets the work wait for locks of other processes. By default node:sqlite does not wait at all, so if several processes
 * started at once, all but one would fail.
 */
export function waitForOthers(database: SqliteDatabase, work: () => void): void {
  const waitMs = busyTimeoutMs(database)
  if (waitMs >= START_WAIT_MS) {
    work()
    return
  }
  database.exec(`PRAGMA busy_timeout = ${START_WAIT_MS}`)
  try {
    work()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${waitMs}`)
  }
}

function busyTimeoutMs(database: SqliteDatabase): number {
  return Number(readCells(database.prepare('PRAGMA busy_timeout').get())[0])
}

/**
 * Deletes rows that are older than the retention, in chunks, and returns how many. If it returns `limit`, call it
 * again. Use the retention of the barrier, or a longer one.
 *
 * @example
 * ```ts
 * setInterval(() => purgeBarrier(database), 3_600_000)
 * ```
 */
export function purgeBarrier(database: SqliteDatabase, options: PurgeOptions = {}): number {
  const { table, before, limit } = purgeBefore(options)
  const name = quoteTable(table, '"')
  const key = 'gid, branch_id, op, barrier_id'
  const statement = database.prepare(
    `DELETE FROM ${name} WHERE (${key}) IN
       (SELECT ${key} FROM ${name} WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
  )
  let deleted = 0
  while (deleted < limit) {
    const chunk = Math.min(PURGE_CHUNK_ROWS, limit - deleted)
    const changes = Number(statement.run(before, chunk).changes)
    deleted += changes
    if (changes < chunk) break
  }
  return deleted
}
