import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Database, Row, Statement } from './driver.ts'
import { loadNodeSqlite } from './load-node-sqlite.ts'

/** These are the result codes of SQLite that this store distinguishes. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  1034: 'SQLITE_IOERR_FSYNC',
  1290: 'SQLITE_IOERR_DIR_FSYNC',
}

export function openDatabase(path: string, access?: 'read' | 'write'): Database {
  const database = withCode(() => openNodeDatabase(path, access === 'read'))
  return {
    exec: (sql) => withCode(() => database.exec(sql)),
    prepare: (sql) => wrap(withCode(() => database.prepare(sql))),
    close: () => database.close(),
  }
}

function openNodeDatabase(path: string, readOnly: boolean): DatabaseSync {
  const { DatabaseSync } = loadNodeSqlite()
  return new DatabaseSync(path, {
    readOnly,
    // There is no busy timeout, since the file is this process's alone or refused at once.
    timeout: 0,
    allowExtension: false,
    // SQL that could spoil the file, such as a write to its schema table, is refused. Node 22 does not know this option.
    defensive: true,
  })
}

function wrap(statement: StatementSync): Statement {
  statement.setReturnArrays(true)
  return {
    run: (...values) => withCode(() => Number(statement.run(...toInput(values)).changes)),
    get: (...values) => withCode(() => statement.get(...toInput(values)) as unknown as Row | undefined),
    all: (...values) => withCode(() => statement.all(...toInput(values)) as unknown as Row[]),
  }
}

function toInput(values: readonly unknown[]): readonly SQLInputValue[] {
  return values as readonly SQLInputValue[]
}

function withCode<T>(call: () => T): T {
  try {
    return call()
  } catch (error: unknown) {
    if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') throw error
    const code = NAMES[error.errcode] ?? NAMES[error.errcode & 0xff] ?? `SQLITE_${error.errcode}`
    throw Object.assign(new Error(error.message, { cause: error }), { code })
  }
}
