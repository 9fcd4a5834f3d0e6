import BetterSqlite3 from 'better-sqlite3'
import type { Database, Row, Statement } from './driver.ts'

export function openDatabase(path: string, access?: 'read' | 'write'): Database {
  // No busy timeout: the file is ours alone, or it is refused at once.
  const database = new BetterSqlite3(path, { timeout: 0, readonly: access === 'read' })
  return {
    exec: (sql) => {
      database.exec(sql)
    },
    prepare: (sql) => wrap(database.prepare(sql)),
    close: () => {
      database.close()
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
