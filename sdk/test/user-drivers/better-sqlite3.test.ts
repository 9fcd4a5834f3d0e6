import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkBarrier, migrateBarrier, type SqliteDatabase, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { BetterSqlite3Twin } from '../barrier/better-sqlite3-twin.ts'
import { messageSuite } from '../barrier/message-suite.ts'
import { opened, readEffects, toFixture } from '../barrier/sqlite-fixture.ts'
import { installUserDrivers } from './install-user-drivers.ts'

/** This is the part of the real package that these tests use, whose types are checked where the SDK is packed. */
interface BetterSqlite3 extends SqliteDatabase {
  defaultSafeIntegers(toggle: boolean): BetterSqlite3
  close(): unknown
}
type OpenBetterSqlite3 = new (path: string, options?: { readonly timeout: number }) => BetterSqlite3

/** This is the part of Drizzle's database that these tests use. */
interface Drizzle {
  insert(table: unknown): { values(row: object): { run(): unknown } }
  select(): { from(table: unknown): { all(): unknown[] } }
  transaction(work: (inner: Drizzle) => unknown): unknown
}

const require = createRequire(join(await installUserDrivers(), 'package.json'))
const Database = require('better-sqlite3') as OpenBetterSqlite3
const { drizzle } = require('drizzle-orm/better-sqlite3') as { drizzle(client: object): Drizzle }

const CALL = { gid: 'g', branchId: '01', op: 'action' } as const
const open = async () => toFixture(opened(() => new Database(':memory:')))

barrierSuite({ name: 'better-sqlite3 itself', open, width: 64 })
messageSuite({ name: 'better-sqlite3 itself', open, width: 64 })

describe('the SQLite barrier with better-sqlite3 itself', () => {
  it('The barrier reads its rows with defaultSafeIntegers', async () => {
    const database = new Database(':memory:').defaultSafeIntegers(true)
    migrateBarrier(database)
    expect(checkBarrier(database)).toBeUndefined()
    const barrier = sqliteBarrier(database)
    expect(await barrier.run(CALL, () => 7)).toEqual({ decision: 'run', answer: '7' })
    expect(await barrier.run(CALL, () => 8)).toEqual({ decision: 'duplicate', answer: '7' })
  })

  it('Drizzle writes through the handle of the barrier, and a query that is never run is refused', async () => {
    const database = opened(() => new Database(':memory:'))
    const barrier = sqliteBarrier(database)
    const effect = sqliteTable('effect', { gid: text('gid'), op: text('op') })
    const query = (tx: SqliteDatabase) => drizzle(tx).insert(effect).values({ gid: 'g', op: 'action' })
    await expect(barrier.run(CALL, query)).rejects.toMatchObject({ code: 'BARRIER_EFFECT_ASYNC' })
    const outcome = await barrier.run(CALL, (tx) => {
      drizzle(tx).transaction((inner) => inner.insert(effect).values({ gid: 'g', op: 'action' }).run())
      return drizzle(tx).select().from(effect).all()
    })
    expect(outcome).toEqual({ decision: 'run', answer: '[{"gid":"g","op":"action"}]' })
    expect(readEffects(database, 'g')).toEqual(['action'])
  })
})

describe('the twin that the other tests take for better-sqlite3', () => {
  const openers = { itself: Database, 'its twin': BetterSqlite3Twin } as const

  /** Answers what the barrier can see of a driver: how it tells of its transaction, counts, answers and fails. */
  function readFeatures(Opener: OpenBetterSqlite3 | typeof BetterSqlite3Twin): unknown {
    const folder = mkdtempSync(join(tmpdir(), 'sdk-twin-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'bank.db')
    const database: SqliteDatabase & { close(): unknown } = new Opener(path)
    const failure = (call: () => unknown): unknown => {
      try {
        return call()
      } catch (error: unknown) {
        const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
        return [error instanceof TypeError, code, errcode]
      }
    }
    database.exec('PRAGMA foreign_keys = ON; CREATE TABLE cell (id INTEGER PRIMARY KEY, text TEXT)')
    database.exec('CREATE TABLE child (cell INTEGER REFERENCES cell)')
    const insert = database.prepare('INSERT INTO cell VALUES (?, ?)')
    const select = database.prepare('SELECT id, text FROM cell')
    const states = [database.inTransaction]
    database.exec('BEGIN')
    states.push(database.inTransaction)
    const { changes } = insert.run(1, 'a')
    database.exec('COMMIT')
    const timeout = database.prepare('PRAGMA busy_timeout').get()
    const other: SqliteDatabase & { close(): unknown } = new Opener(path, { timeout: 0 })
    other.exec('BEGIN IMMEDIATE')
    database.exec('PRAGMA busy_timeout = 0')
    const look = {
      states,
      isTransaction: database.isTransaction,
      changes,
      timeout,
      row: select.get(),
      rows: select.all(),
      absent: database.prepare('SELECT 1 FROM cell WHERE id = 2').get(),
      busy: failure(() => database.exec('BEGIN IMMEDIATE')),
      syntax: failure(() => database.prepare('SELEC 1')),
      allOfWriter: failure(() => insert.all(1, 'a')),
      getOfWriter: failure(() => insert.get(1, 'a')),
    }
    other.exec('ROLLBACK')
    other.close()
    const twice = failure(() => insert.run(1, 'a'))
    const orphan = failure(() => database.exec('INSERT INTO child VALUES (7)'))
    database.close()
    return { ...look, twice, orphan }
  }

  it('The twin looks to the barrier as the real better-sqlite3 does', () => {
    expect(readFeatures(openers['its twin'])).toEqual(readFeatures(openers.itself))
  })
})
