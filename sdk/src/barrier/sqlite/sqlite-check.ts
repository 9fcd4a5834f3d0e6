import { BranchError } from '../../branch/branch-errors.ts'
import { parseTableName, type TableName } from '../table-name.ts'
import { readCells, type SqliteDatabase } from './sqlite-database.ts'
import { waitForOthers } from './sqlite-table.ts'

const COLUMNS = 'gid,branch_id,op,barrier_id'

/**
 * Checks at start-up whether the barrier can keep what it promises: its table is there with its key, and so is the
 * business table that you name, on the same connection. Both commit together: they are in one file, or (with ATTACH) in
 * two of which none has a WAL, because SQLite commits files with a WAL one by one. A COMMIT is flushed to the disk. Throws
 * one `BranchError` with `BARRIER_MISCONFIGURED` that names every fault.
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
  const faults: string[] = []
  // Another instance that migrates at the same moment locks out readers too, unless the journal is a WAL.
  waitForOthers(database, () => {
    const name = parseTableName(table)
    const barrier = findSchema(database, name)
    if (barrier === undefined) faults.push(`there is no table ${name.table}: run migrateBarrier`)
    else faults.push(...findKeyFaults(database, barrier, name))
    const business =
      businessTable === undefined ? barrier : findSchema(database, parseTableName(businessTable))
    if (business === undefined && businessTable !== undefined)
      faults.push(`there is no table ${businessTable} on the barrier's connection`)
    const schemas = new Set([barrier ?? MAIN, business ?? barrier ?? MAIN])
    faults.push(
      ...findFileFaults(
        [...schemas].map((schema) => readFile(database, schema)),
        database,
      ),
    )
  })
  if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
}

const MAIN = 'main'
const TEMP = 'temp'

/** Finds the database of the connection in which statements find a table: the temporary one comes first, then the main one, then the attached ones in their order. */
function findSchema(database: SqliteDatabase, { schema, table }: TableName): string | undefined {
  const rows = database
    .prepare(
      `SELECT known.name FROM pragma_database_list AS known, pragma_table_list AS found
       WHERE found.schema = known.name COLLATE NOCASE AND found.name = ? COLLATE NOCASE
         AND (? = '' OR known.name = ? COLLATE NOCASE)
       ORDER BY known.name <> '${TEMP}', known.seq LIMIT 1`,
    )
    .all(table, schema ?? '', schema ?? '')
  return rows.map((row) => String(readCells(row)[0]))[0]
}

function findKeyFaults(database: SqliteDatabase, schema: string, { table }: TableName): readonly string[] {
  const key = database
    .prepare('SELECT name, pk FROM pragma_table_info(?, ?)')
    .all(table, schema)
    .map(readCells)
    .map(([name, place]) => ({ name: String(name), place: Number(place) }))
    .filter(({ place }) => place > 0)
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name)
    .join(',')
  return key === COLUMNS ? [] : [`the primary key of ${table} is (${key}), not (${COLUMNS})`]
}

/** A database of the connection, and how it is written. */
interface SchemaFile {
  readonly schema: string
  /** It is empty for a database without a file. */
  readonly path: string
  readonly journalMode: string
  readonly synchronous: number
}

function readFile(database: SqliteDatabase, schema: string): SchemaFile {
  const read = (sql: string, ...values: string[]) => readCells(database.prepare(sql).get(...values))[0]
  const quoted = `"${schema.replaceAll('"', '""')}"`
  return {
    schema,
    path: String(read('SELECT file FROM pragma_database_list WHERE name = ?', schema)),
    journalMode: String(read(`PRAGMA ${quoted}.journal_mode`)),
    synchronous: Number(read(`PRAGMA ${quoted}.synchronous`)),
  }
}

/** The least `PRAGMA synchronous` with which a COMMIT is on the disk: 2 is FULL, and 3 is EXTRA. The other modes lose more than the last COMMIT. */
const LEAST_SYNCHRONOUS: ReadonlyMap<string, number> = new Map([
  ['wal', 2],
  ['truncate', 2],
  ['persist', 2],
  // The COMMIT is that the journal is deleted, and below EXTRA its folder is not flushed (sqlite.org/pragma.html#pragma_synchronous).
  ['delete', 3],
])

/** In these modes one COMMIT is for several files (sqlite.org/lang_attach.html). */
const COMMITS_TOGETHER: ReadonlySet<string> = new Set(['delete', 'truncate', 'persist'])

/** Finds why a crash or a power cut may take back effects that were answered as done, or only their rows. A database without a file is gone then as a whole. */
function findFileFaults(files: readonly SchemaFile[], database: SqliteDatabase): readonly string[] {
  if (files.some(({ schema }) => schema === TEMP))
    return ['a table is a TEMP table: it is gone when its connection is closed']
  if (files.every(({ path }) => path === '')) return []
  const faults = files
    .filter(
      ({ path, journalMode, synchronous }) =>
        path !== '' && !(synchronous >= (LEAST_SYNCHRONOUS.get(journalMode) ?? Number.POSITIVE_INFINITY)),
    )
    .map(
      ({ schema, journalMode, synchronous }) =>
        `journal_mode of ${schema} is ${journalMode} and synchronous is ${synchronous}: an effect that was answered as done may be gone after a power cut. Set PRAGMA ${schema}.journal_mode = WAL and PRAGMA ${schema}.synchronous = FULL on the barrier's connection`,
    )
  // SQLite names the journal of such a COMMIT after the file of the main database.
  const areTogether =
    files.length === 1 ||
    (files.every(({ path, journalMode }) => path !== '' && COMMITS_TOGETHER.has(journalMode)) &&
      readFile(database, MAIN).path !== '')
  if (!areTogether) {
    const modes = files.map(({ schema, journalMode }) => `${schema} (${journalMode})`).join(' and ')
    faults.push(
      `the barrier's table and the business table are in two databases, ${modes}: a crash in COMMIT may keep the one without the other. Put both into one file`,
    )
  }
  return faults
}
