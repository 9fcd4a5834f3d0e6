import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readSqliteCode } from '../src/driver.ts'
import { openDatabase } from '../src/node-driver.ts'
import { temporaryFolder } from './temporary-folder.ts'

const folder = await temporaryFolder()
const DRIVER = pathToFileURL(join(import.meta.dirname, '../src/node-driver.ts')).href

function catchCode(call: () => unknown): string {
  try {
    call()
  } catch (error: unknown) {
    return readSqliteCode(error)
  }
  return 'no error'
}

describe("the driver over Node's own SQLite", () => {
  it('The driver reads every text and every whole number back as they were written', () => {
    const database = openDatabase(':memory:')
    database.exec('CREATE TABLE cell (text TEXT NOT NULL, number INTEGER NOT NULL) STRICT')
    const insert = database.prepare('INSERT INTO cell VALUES (?, ?)')
    const rows = [
      ['ä💶', Number.MAX_SAFE_INTEGER],
      ['', -1],
      ['x'.repeat(1_000_000), 0],
    ] as const
    for (const row of rows) expect(insert.run(...row)).toBe(1)
    expect(database.prepare('SELECT text, number FROM cell ORDER BY rowid').all()).toEqual(rows)
    database.close()
  })

  it("The driver names SQLite's codes on which the store decides", () => {
    const path = join(folder, 'codes.db')
    const database = openDatabase(path)
    database.exec('CREATE TABLE cell (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
    const insert = database.prepare('INSERT INTO cell VALUES (?, ?)')
    insert.run(1, 'a')
    expect(catchCode(() => insert.run(1, 'b'))).toBe('SQLITE_CONSTRAINT')
    expect(catchCode(() => insert.run('no number', 'b'))).toMatch(/^SQLITE_(MISMATCH|CONSTRAINT)$/)
    expect(catchCode(() => database.prepare('ROLLBACK').run())).toBe('SQLITE_ERROR')
    database.exec('PRAGMA max_page_count = 1')
    expect(catchCode(() => insert.run(2, 'x'.repeat(100_000)))).toBe('SQLITE_FULL')
    database.exec('BEGIN EXCLUSIVE')
    const other = openDatabase(path)
    const startedAt = performance.now()
    expect(catchCode(() => other.exec('BEGIN EXCLUSIVE'))).toBe('SQLITE_BUSY')
    // The driver does not wait for the lock, since the file is this process's alone or refused at once.
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    other.close()
    database.close()
  })

  it('A reading connection can change nothing, and makes no file', () => {
    const path = join(folder, 'read.db')
    const database = openDatabase(path)
    database.exec('CREATE TABLE cell (text TEXT)')
    const reader = openDatabase(path, 'read')
    expect(catchCode(() => reader.exec("INSERT INTO cell VALUES ('a')"))).toBe('SQLITE_8')
    expect(reader.prepare('SELECT count(*) FROM cell').get()).toEqual([0])
    reader.close()
    database.close()
    expect(catchCode(() => openDatabase(join(folder, 'absent.db'), 'read'))).toBe('SQLITE_14')
    expect(() => statSync(join(folder, 'absent.db'))).toThrow('ENOENT')
  })

  it('The driver loads no extension', () => {
    const database = openDatabase(':memory:')
    expect(() => database.prepare("SELECT load_extension('x')").get()).toThrow('not authorized')
    database.close()
  })

  it('The driver opens a file whose name looks like the parameters of a URI', () => {
    const path = join(folder, 'a%20b?mode=memory#c.db')
    const database = openDatabase(path)
    database.exec('CREATE TABLE cell (text TEXT)')
    database.close()
    expect(statSync(path).size).toBeGreaterThan(0)
  })
})

/**
 * Loads the driver, and then emits two warnings: one about another experimental feature, and one about something
 * else.
 */
const WARN = `
  const { openDatabase } = await import(${JSON.stringify(DRIVER)})
  openDatabase(':memory:').close()
  openDatabase(':memory:').close()
  process.emitWarning('A feature of its own', 'ExperimentalWarning')
  process.emitWarning('SQLite is an experimental feature and said so later', 'ExperimentalWarning')
  process.emitWarning('What a user should know', { type: 'CounterstepWarning', code: 'known' })`

describe('the warning of Node 22 that its SQLite is experimental', () => {
  const places = {
    'the main thread': WARN,
    'a worker': `
      const { Worker } = await import('node:worker_threads')
      new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(WARN)})))`,
  }
  for (const [place, code] of Object.entries(places)) {
    it(`The warning that SQLite is experimental is not shown in ${place}, and every other warning is`, () => {
      // The options of the test program are left out, since some of them hide warnings.
      const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '' }
      const args = ['--input-type=module', '--eval', code]
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
      expect([status, stderr]).toEqual([0, expect.stringContaining('A feature of its own')])
      expect(stderr).toContain('SQLite is an experimental feature and said so later')
      expect(stderr).toContain('[known] CounterstepWarning: What a user should know')
      expect(stderr).not.toContain('might change at any time')
    })
  }
})
