import { flushCompileCache } from 'node:module'
import type { Database, Row, Statement } from '@counterstep/store-sqlite'
import BetterSqlite3 from 'better-sqlite3'
import { CrashSwitch } from './crash-switch.ts'

/** A driver for the store's own thread, with crash points around COMMIT: of a batch, and of a migration. */
export function openDatabase(path: string): Database {
  const crash = CrashSwitch.ofProcess()
  const database = new BetterSqlite3(path, { timeout: 0 })
  // A thread has a cache of its own, and writes it at its end, which none of these comes to.
  flushCompileCache()
  return {
    exec: (sql) => {
      const isMigration = sql === 'COMMIT'
      if (isMigration) crash.pass('migration-before')
      database.exec(sql)
      if (isMigration) crash.pass('migration-after')
    },
    prepare: (sql) => {
      const statement = wrap(database.prepare(sql))
      return sql === 'COMMIT' ? crashingCommit(statement, crash) : statement
    },
    close: () => {
      database.close()
    },
  }
}

function crashingCommit(statement: Statement, crash: CrashSwitch): Statement {
  return {
    ...statement,
    run: (...values) => {
      crash.pass('commit-before')
      const changes = statement.run(...values)
      crash.pass('commit-after')
      return changes
    },
  }
}

function wrap(statement: BetterSqlite3.Statement): Statement {
  if (statement.reader) statement.raw(true)
  return {
    run: (...values) => statement.run(...values).changes,
    get: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as Row[],
  }
}
