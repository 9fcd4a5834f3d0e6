import { CounterstepError } from '@counterstep/protocol'
import { SqlError } from '@counterstep/store-sql'
import { COLUMNS, MIGRATIONS, STATEMENTS } from '../generated/sql.ts'
import { isDenied } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import { unsupportedError } from './server-facts.ts'

export interface Migration {
  readonly version: number
  /** The oldest code that may still use the tables after this migration. Code is as old as its own newest migration. */
  readonly minReader: number
  readonly name: string
  /** MySQL commits each statement by itself, so each can be run again after a crash in between. */
  readonly statements: readonly string[]
}

export interface MigrationReport {
  readonly from: number
  readonly to: number
}

const TAKE_LOCK = parseStatement(STATEMENTS.takeSchemaLock)
const NOTE_MIGRATION = parseStatement(STATEMENTS.noteMigration)
const TABLE = COLUMNS.readTableEngine
const LOCK_WAIT_SECONDS = 30
const LOCK_TIMEOUT_MS = 35_000
const STATEMENT_TIMEOUT_MS = 3_600_000

const NO_SUCH_TABLE = 1146
const COLUMN_EXISTS = 1060

/**
 * Applies the missing migrations, and runs no DDL if none is missing. A user without the right to do so gets an error that
 * says how to migrate.
 */
export async function ensureSchema(
  session: Session,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<MigrationReport> {
  const known = migrations.at(-1)?.version ?? 0
  const present = await readVersion(session, known)
  if (present >= known) return { from: present, to: present }
  try {
    return await withSchemaLock(session, () => migrate(session, known, migrations))
  } catch (error: unknown) {
    if (!(error instanceof SqlError) || !isDenied(error)) throw error
    const message = `this user finds schema ${present} and this code needs ${known}: run \`counterstep migrate\` as a user who may create tables, and let this one read counterstep_schema`
    throw new CounterstepError('SAGA_STORE_SCHEMA', message, { cause: error })
  }
}

/** Makes no tables behind a proxy: the lock on the schema would pin the connection, and DDL is for another user. */
export async function refuseOldSchema(session: Session): Promise<void> {
  const known = MIGRATIONS.at(-1)?.version ?? 0
  const present = await readVersion(session, known)
  if (present >= known) return
  throw new CounterstepError(
    'SAGA_STORE_SCHEMA',
    `through the proxy schema ${present} is found and this code needs ${known}: run \`counterstep migrate\` past the proxy, as a user who may create tables, and let this one read counterstep_schema`,
  )
}

/** The store relies on row locks and on rollback, which InnoDB has. */
export async function refuseOtherEngine(session: Session): Promise<void> {
  const rows = await session.all(STATEMENTS.readTableEngine)
  const engines = new Map(rows.map((row) => [String(row[TABLE.tableName]), row[TABLE.engine]]))
  // Without the right to the documents their table is not in the list, and transactions work all the same.
  const wanted = new Map([['counterstep_transactions', undefined], ...engines])
  for (const [table, engine] of wanted) {
    if (engine !== 'InnoDB') throw unsupportedError(`the table ${table} has engine ${engine}, not InnoDB`)
  }
}

async function migrate(
  session: Session,
  known: number,
  migrations: readonly Migration[],
): Promise<MigrationReport> {
  await session.run(STATEMENTS.createSchemaTable)
  // The version is read again under the lock, since another node may have been first.
  const present = await readVersion(session, known)
  for (const { version, minReader, name, statements } of migrations) {
    if (version <= present) continue
    for (const sql of statements) await change(session, sql)
    await session.run(fill(NOTE_MIGRATION, [version, minReader, name]))
  }
  return { from: present, to: Math.max(present, known) }
}

/** A statement that adds columns adds all of them or none. MySQL cannot say `IF NOT EXISTS` of a column. */
async function change(session: Session, sql: string): Promise<void> {
  try {
    await session.run(sql, STATEMENT_TIMEOUT_MS)
  } catch (error: unknown) {
    if (!(error instanceof SqlError) || error.errno !== COLUMN_EXISTS) throw error
  }
}

/** Returns 0 if there is no schema, or none that this user may see. */
async function readVersion(session: Session, known: number): Promise<number> {
  try {
    const [row] = await session.all(STATEMENTS.readSchema)
    const [present = 0, minReader = 0] = (row ?? []).map(Number)
    if (minReader <= known) return present
    throw new CounterstepError(
      'SAGA_STORE_SCHEMA',
      `the database has schema ${present}, which wants code that knows schema ${minReader}; this code knows ${known}`,
    )
  } catch (error: unknown) {
    if (error instanceof SqlError && (error.errno === NO_SUCH_TABLE || isDenied(error))) return 0
    throw error
  }
}

async function withSchemaLock<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const [row] = await session.all(fill(TAKE_LOCK, [LOCK_WAIT_SECONDS]), LOCK_TIMEOUT_MS)
  if (row?.[0] !== 1)
    throw new SqlError('unavailable', 'another node has held the lock on the schema for too long')
  try {
    return await work()
  } finally {
    // The end of the connection releases the lock as well.
    if (!session.isBroken) await session.all(STATEMENTS.releaseSchemaLock)
  }
}
