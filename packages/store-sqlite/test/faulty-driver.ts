import { readFileSync } from 'node:fs'
import type { Database, Statement } from '../src/driver.ts'
import { openDatabase as openReal } from '../src/node-driver.ts'

// A driver whose disk goes wrong on demand: the test writes the fault's name into the file `<path>-fault`.
const PAGES_MAX = 4_294_967_294

export function openDatabase(path: string, access?: 'read' | 'write'): Database {
  const database = openReal(path, access)
  const faults: Readonly<Record<string, Readonly<Record<string, () => void>>>> = {
    'BEGIN IMMEDIATE': {
      full: () => database.exec('PRAGMA max_page_count = 1'),
      '': () => database.exec(`PRAGMA max_page_count = ${PAGES_MAX}`),
    },
    COMMIT: {
      flush: () => fail('SQLITE_IOERR_FSYNC'),
      write: () => fail('SQLITE_IOERR_WRITE'),
      'full at commit': () => fail('SQLITE_FULL'),
      exit: () => process.exit(1),
    },
  }
  return {
    ...database,
    prepare: (sql) => {
      const statement = database.prepare(sql)
      const ofStatement = faults[sql]
      return ofStatement === undefined
        ? statement
        : withFault(statement, () => ofStatement[readFault(path)]?.())
    },
  }
}

function withFault(statement: Statement, act: () => void): Statement {
  return {
    ...statement,
    run: (...values) => {
      act()
      return statement.run(...values)
    },
  }
}

function readFault(path: string): string {
  try {
    return readFileSync(`${path}-fault`, 'utf8')
  } catch {
    return ''
  }
}

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}
