import { CounterstepError } from '@counterstep/protocol'
import { SqlError } from '@counterstep/store-sql'
import { MIGRATIONS, STATEMENTS } from '../generated/sql.ts'
import { isDenied, isTableMissing } from '../sessions/server-errors.ts'
import type { Session } from '../sessions/session.ts'
import { numberParameters } from '../sql/number-parameters.ts'
import { unsupportedError } from './server-facts.ts'

export interface Migration {
  readonly version: number
  /** The oldest code that may still use the tables after this migration. Code is as old as its own newest migration. */
  readonly minReader: number
  readonly name: string
  readonly statements: readonly string[]
}

export interface MigrationReport {
  readonly from: number
  readonly to: number
}

const NOTE_MIGRATION = numberParameters(STATEMENTS.noteMigration)
const STATEMENT_TIMEOUT_MS = 3_600_000

/**
 * Applies the missing migrations in one database transaction, and runs no DDL if none is missing. A user without the right to
 * do so gets an error that says how to migrate.
 */
export async function ensureSchema(
  session: Session,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<MigrationReport> {
  const known = migrations.at(-1)?.version ?? 0
  await refusePlantedCode(session)
  const present = await readVersion(session, known)
  if (present >= known) return { from: present, to: present }
  try {
    await session.send({ sql: 'BEGIN' })
    const report = await migrate(session, known, migrations)
    await session.send({ sql: 'COMMIT' }, STATEMENT_TIMEOUT_MS)
    return report
  } catch (error: unknown) {
    // The server rolls back when the connection has ended.
    session.destroy()
    if (!(error instanceof SqlError) || !isDenied(error)) throw error
    const message = `this user finds schema ${present} and this code needs ${known}: run \`counterstep migrate\` as a user who may create tables, and let this one read counterstep_schema`
    throw new CounterstepError('SAGA_STORE_SCHEMA', message, { cause: error })
  }
}

async function migrate(
  session: Session,
  known: number,
  migrations: readonly Migration[],
): Promise<MigrationReport> {
  for (const setting of ['statement_timeout', 'lock_timeout'])
    await session.send({ sql: `SET LOCAL ${setting} = ${STATEMENT_TIMEOUT_MS}` })
  await session.all({ sql: STATEMENTS.takeSchemaLock }, STATEMENT_TIMEOUT_MS)
  await session.send({ sql: STATEMENTS.createSchemaTable })
  await refuseForeignTables(session)
  // The version is read again under the lock, since another node may have been first.
  const present = await readVersion(session, known)
  for (const { version, minReader, name, statements } of migrations) {
    if (version <= present) continue
    for (const sql of statements) await session.send({ sql }, STATEMENT_TIMEOUT_MS)
    await session.send({ sql: NOTE_MIGRATION, values: [version, minReader, name] })
  }
  // Another role may have made one since, which the migration has then taken for its own.
  await refuseForeignTables(session)
  return { from: present, to: Math.max(present, known) }
}

/** Returns 0 if there is no schema, or none that this user may see. */
async function readVersion(session: Session, known: number): Promise<number> {
  try {
    const [row] = await session.all({ sql: STATEMENTS.readSchema })
    const [present = 0, minReader = 0] = (row ?? []).map(Number)
    if (minReader <= known) return present
    throw new CounterstepError(
      'SAGA_STORE_SCHEMA',
      `the database has schema ${present}, which wants code that knows schema ${minReader}; this code knows ${known}`,
    )
  } catch (error: unknown) {
    if (error instanceof SqlError && (isTableMissing(error) || isDenied(error))) return 0
    throw error
  }
}

/**
 * Refuses a schema in which every role may create functions and operators, as in `public` before PostgreSQL 15, and those of others
 * that have the names of the server's own. The server takes one of them where its argument types fit better, and runs it with the
 * rights of this user.
 */
async function refusePlantedCode(session: Session): Promise<void> {
  const [planted] = await session.all({ sql: STATEMENTS.findPlantedCode })
  if (planted === undefined) return
  const [kind, schema, name, owner] = planted
  const ownSchema = 'or let the search_path of this user name a schema of its own'
  const message =
    kind === 'schema'
      ? `every role may create functions in the schema ${schema}, which would run with this user's rights: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC, ${ownSchema}`
      : `the ${kind} ${schema}.${name} of the role ${owner} stands in for one of the server's own: drop it, ${ownSchema}`
  throw new CounterstepError('SAGA_STORE_SCHEMA', message)
}

/**
 * Refuses tables and indexes that another role has made under our names, as each role may in the schema `public` before PostgreSQL 15: their
 * triggers and views would run with the administrator's rights, and their owner would read and change every transaction.
 */
export async function refuseForeignTables(session: Session): Promise<void> {
  const [foreign] = await session.all({ sql: STATEMENTS.readForeignTables })
  if (foreign === undefined) return
  const [relation, owner] = foreign
  throw new CounterstepError(
    'SAGA_STORE_SCHEMA',
    `${relation} belongs to the role ${owner}: migrate as that role if it is yours, or else drop it`,
  )
}

/** Refuses to open as a user with only the right to read: the store would start, report no fault, and store nothing. */
export async function refuseReadOnlyUser(session: Session): Promise<void> {
  const missing = await session.all({ sql: STATEMENTS.readRights })
  if (missing.length === 0) return
  const rights = missing.map(([table, privilege]) => `${privilege} ON ${table}`).join(', ')
  throw unsupportedError(`this user lacks rights: GRANT ${rights}`)
}

/** Lists tables that a crash of the server empties. */
export async function findUnloggedTables(session: Session): Promise<readonly string[]> {
  const rows = await session.all({ sql: STATEMENTS.findUnloggedTables })
  return rows.map(([name]) => String(name))
}
