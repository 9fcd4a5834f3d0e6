import { BranchError } from '../../branch/branch-errors.ts'
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
function waitForOthers(database: SqliteDatabase, work: () => void): void {
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

const COLUMNS = 'gid,branch_id,op,barrier_id'

/**
 * Checks at start-up whether the barrier can keep what it promises: its table is there with its key, and so is the
 * business table that you name, on the same connection, and a COMMIT is flushed to the disk. Throws one `BranchError` with `BARRIER_MISCONFIGURED` that
 * names every fault.
 *
 * @example
 * ```ts
 * checkBarrier(database, { businessTable: 'account' })
 * ```
 */
export function checkBarrier(
  database: SqliteDatabase,
  { table, businessTable }: { readonly table?: string; readonly businessTable?: string } = {},
): void {
  const name = parseTableName(table)
  const faults: string[] = []
  // Another instance that migrates at the same moment locks out readers too, unless the journal is a WAL.
  waitForOthers(database, () => {
    const key = readKey(database, name.table)
    if (key === undefined) faults.push(`there is no table ${name.table}: run migrateBarrier`)
    else if (key !== COLUMNS) faults.push(`the primary key of ${name.table} is (${key}), not (${COLUMNS})`)
    if (businessTable !== undefined && readKey(database, parseTableName(businessTable).table) === undefined) {
      faults.push(`there is no table ${businessTable} on the barrier's connection`)
    }
    const flushFault = findFlushFault(database)
    if (flushFault !== undefined) faults.push(flushFault)
  })
  if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
}

/** The least `PRAGMA synchronous` with which a COMMIT is on the disk: 2 is FULL, and 3 is EXTRA. The other modes lose more than the last COMMIT. */
const LEAST_SYNCHRONOUS: ReadonlyMap<unknown, number> = new Map([
  ['wal', 2],
  ['truncate', 2],
  ['persist', 2],
  // The COMMIT is that the journal is deleted, and below EXTRA its folder is not flushed (sqlite.org/pragma.html#pragma_synchronous).
  ['delete', 3],
])

/** Finds settings of this connection by which a power cut takes back effects that were answered as done. A database without a file has none. */
function findFlushFault(database: SqliteDatabase): string | undefined {
  const read = (sql: string) => readCells(database.prepare(sql).get())[0]
  if (read("SELECT file FROM pragma_database_list WHERE name = 'main'") === '') return undefined
  const mode = read('PRAGMA journal_mode')
  const synchronous = Number(read('PRAGMA synchronous'))
  if (synchronous >= (LEAST_SYNCHRONOUS.get(mode) ?? Number.POSITIVE_INFINITY)) return undefined
  return `journal_mode is ${mode} and synchronous is ${synchronous}: an effect that was answered as done may be gone after a power cut. Set PRAGMA journal_mode = WAL and PRAGMA synchronous = FULL on the barrier's connection`
}

/** The columns of the primary key in their order, or undefined if there is no such table. */
function readKey(database: SqliteDatabase, table: string): string | undefined {
  const rows = database.prepare('SELECT name, pk FROM pragma_table_info(?)').all(table)
  if (rows.length === 0) return undefined
  return rows
    .map(readCells)
    .map(([name, place]) => ({ name: String(name), place: Number(place) }))
    .filter(({ place }) => place > 0)
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name)
    .join(',')
}
