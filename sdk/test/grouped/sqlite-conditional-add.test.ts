import { DatabaseSync } from 'node:sqlite'
import { migrateBarrier, type SqliteDatabase } from '../../src/barrier/sqlite.ts'
import { conditionalAdd, sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import { BetterSqlite3Twin } from '../barrier/better-sqlite3-twin.ts'
import { conditionalAddSuite } from './conditional-add-suite.ts'

const DATABASES: readonly (readonly [string, () => SqliteDatabase])[] = [
  ['better-sqlite3', () => new BetterSqlite3Twin(':memory:')],
  ['node:sqlite', () => new DatabaseSync(':memory:')],
]

for (const [name, open] of DATABASES) {
  conditionalAddSuite(name, async () => {
    const database = open()
    migrateBarrier(database)
    database.exec(`CREATE TABLE account (id TEXT PRIMARY KEY COLLATE NOCASE, cents INTEGER NOT NULL) STRICT;
      CREATE TABLE numbered (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL);
      CREATE TABLE ledger (number INTEGER PRIMARY KEY, gid TEXT, op TEXT, account TEXT, cents INTEGER) STRICT`)
    return {
      barrier: sqliteGroupBarrier(database),
      conditionalAdd,
      execute: async (sql) => {
        database.exec(sql)
      },
      column: async (sql) =>
        database
          .prepare(sql)
          .all()
          .map((row) => String((row as { readonly found: unknown }).found)),
      literal: (text) => `'${text.replaceAll("'", "''")}'`,
      hasNarrowIntegers: false,
      close: async () => undefined,
    }
  })
}
