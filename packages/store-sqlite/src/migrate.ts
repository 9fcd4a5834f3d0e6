import type { Database } from './driver.ts'
import { RefusedError } from './errors.ts'
import { MIGRATIONS } from './generated/sql.ts'

export interface Migration {
  readonly version: number
  /** The oldest code that may still use the file after this migration. Code is as old as its own newest migration. */
  readonly minReader: number
  readonly name: string
  readonly sql: string
}

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS schema_versions (
  version INTEGER PRIMARY KEY, min_reader INTEGER NOT NULL, name TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT`

/** Applies each migration and its version row in one transaction, so a crash leaves only whole versions. */
export function migrate(
  database: Database,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  database.exec(VERSION_TABLE)
  const row = database.prepare('SELECT max(version), max(min_reader) FROM schema_versions').get()
  const present = Number(row?.[0] ?? 0)
  const minReader = Number(row?.[1] ?? 0)
  const known = migrations.at(-1)?.version ?? 0
  if (minReader > known) throw toTooNewError(present, minReader, known)
  const note = database.prepare('INSERT INTO schema_versions VALUES (?, ?, ?, ?)')
  for (const migration of migrations.filter(({ version }) => version > present)) {
    database.exec('BEGIN IMMEDIATE')
    database.exec(migration.sql)
    note.run(migration.version, migration.minReader, migration.name, now)
    database.exec('COMMIT')
  }
}

function toTooNewError(present: number, minReader: number, known: number): RefusedError {
  return new RefusedError(
    'SAGA_STORE_UNAVAILABLE',
    `the file has schema ${present}, which wants code that knows schema ${minReader}; this code knows ${known}`,
  )
}
