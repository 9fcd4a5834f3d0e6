import { flushCompileCache } from 'node:module'
import { type Database, openDatabase as openReal, type Statement } from '@counterstep/store-sqlite'
import { CrashSwitch } from './crash-switch.ts'

/** A driver for the store's own thread, with crash points around COMMIT: of a batch, and of a migration. */
export function openDatabase(path: string, access?: 'read' | 'write'): Database {
  const crash = CrashSwitch.ofProcess()
  const database = openReal(path, access)
  // A thread has a cache of its own, and writes it at its end, which none of these comes to.
  flushCompileCache()
  return {
    ...database,
    exec: (sql) => {
      const isMigration = sql === 'COMMIT'
      if (isMigration) crash.pass('migration-before')
      database.exec(sql)
      if (isMigration) crash.pass('migration-after')
    },
    prepare: (sql) => {
      const statement = database.prepare(sql)
      return sql === 'COMMIT' ? crashingCommit(statement, crash) : statement
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
